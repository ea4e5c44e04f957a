"""The approvals page: what waits, who may decide it, and how it ended."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from funding.models import Confirmation, FundingTransaction
from funding.services import approval_sweeps, auto_funding, topups
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail, Role
from tenants.services import accounts
from tests.builders import make_auto_funding, make_member, make_source, make_tenant
from tests.funding.builders import top_up

PAGE = "/dashboard/approvals"


@pytest.fixture
def ann(acme):
    return make_member(acme, email="ann@acme.example", role=Role.APPROVER)


@pytest.fixture
def ann_browser(ann, sign_in):
    return sign_in(ann)


@pytest.fixture
def approval(acme, ann):
    """$500.00 wait for ann."""
    return ask(acme, confirmation_emails=[ann.email])


def ask(tenant, **settings):
    make_source(tenant)
    make_auto_funding(tenant, confirmation_threshold=10_000, **settings)
    auto_funding.evaluate(tenant_id=tenant.pk, now=utc_now())
    return Confirmation.objects.get(tenant=tenant)


class TestNames:
    def test_those_that_imitate_letters_are_warned_of(self, acme, approval, ann_browser):
        accounts.rename(tenant_id=acme.pk, name="\u0410cme", actor=SYSTEM, now=utc_now())

        assert (
            "“\u0410cme” contains the Cyrillic letter"
            in ann_browser.get(path(approval)).content.decode()
        )

    def test_addresses_of_approvers_are_spelled_out(self, acme, ann, ann_browser):
        approval = ask(acme, confirmation_emails=[ann.email, "ann@\u0430cme.example"])

        content = ann_browser.get(path(approval)).content.decode()

        assert "Look at the addresses" in content
        assert "(ann@xn--cme-5cd.example)" in content


def path(approval):
    return f"{PAGE}/{approval.pk}"


def approve(approval, **fields):
    return {
        "acting_for": approval.tenant_id,
        "decision": "approve",
        "typed_amount": "500.00",
        **fields,
    }


def decline(approval, **fields):
    return {
        "acting_for": approval.tenant_id,
        "decision": "decline",
        "reason": "Not this week",
        **fields,
    }


def status():
    return FundingTransaction.objects.get().status


class TestWaiting:
    def test_shows_amount_reason_who_was_asked_and_until_when(self, approval, dana_browser):
        content = dana_browser.get(PAGE).content.decode()

        for fact in ("$500.00", "from JPMorgan Chase", "is below $100.00", "ann@acme.example"):
            assert fact in content
        assert f'href="{path(approval)}"' in content

    def test_a_sentence_names_it(self, approval, dana_browser):
        sentence = "Add $500.00 to the balance"

        assert f">{sentence}</a></h3>" in dana_browser.get(PAGE).content.decode()
        assert f"<h1>{sentence}</h1>" in dana_browser.get(path(approval)).content.decode()

    def test_offers_the_decision_to_whom_was_asked(self, approval, ann_browser, dana_browser):
        assert b">Decide<" in ann_browser.get(PAGE).content
        assert b">Decide<" not in dana_browser.get(PAGE).content

    def test_teaches_while_nothing_waits(self, acme, dana_browser):
        content = dana_browser.get(PAGE).content

        assert b"Nothing to approve" in content
        assert b"No decisions yet" in content

    def test_is_not_that_of_another_tenant(self, rival, dana_browser):
        foreign = ask(rival)

        assert b"$500.00" not in dana_browser.get(PAGE).content
        assert dana_browser.get(path(foreign)).status_code == 404

    @pytest.mark.parametrize("name", ["x", "cnf_" + "0" * 26, "%00"])
    def test_an_unknown_one_is_not_found(self, acme, dana_browser, name):
        assert dana_browser.get(f"{PAGE}/{name}").status_code == 404


class TestApproving:
    def test_lets_the_money_go_in_the_name_of_the_person(self, approval, ann, ann_browser):
        response = ann_browser.post(path(approval), approve(approval), follow=True)

        assert status() == FundingStatus.RESERVED
        assert Confirmation.objects.get().decided_by == "ann@acme.example"
        assert AuditEvent.objects.get(action="confirmation.approved").actor_id == ann.pk
        assert b"by ann@acme.example" in response.content
        assert b"You approved adding $500.00 to the balance. We collect it from" in response.content

    @pytest.mark.parametrize("typed", ["", "499.99", "yes"])
    def test_needs_the_amount_typed(self, approval, ann_browser, typed):
        response = ann_browser.post(path(approval), approve(approval, typed_amount=typed))

        assert response.status_code == 422
        assert b"id_typed_amount_error" in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_twice_shows_how_it_ended(self, approval, ann_browser):
        ann_browser.post(path(approval), approve(approval))

        response = ann_browser.post(path(approval), approve(approval), follow=True)

        assert b"This request was approved before." in response.content
        assert AuditEvent.objects.filter(action="confirmation.approved").count() == 1

    def test_is_refused_to_an_owner_who_was_not_asked(self, approval, dana_browser):
        assert b"Only the approvers named above can decide this" in (
            dana_browser.get(path(approval)).content
        )

        response = dana_browser.post(path(approval), approve(approval))

        assert response.status_code == 422
        assert b"You are not among those who decide this." in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_is_open_to_an_owner_where_nobody_was_asked(self, acme, sign_in):
        approval = ask(acme)
        owner = make_member(acme, email="late@acme.example", role=Role.OWNER)

        sign_in(owner).post(path(approval), approve(approval))

        assert status() == FundingStatus.RESERVED

    def test_of_another_tenant_is_not_found(self, approval, rival, ravi, sign_in):
        response = sign_in(ravi).post(path(approval), approve(approval, acting_for=rival.pk))

        assert response.status_code == 404
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_the_same_address_in_another_tenant_decides_nothing_here(self, approval, ann, sign_in):
        other = make_tenant(name="Aardvark")
        make_member(other, email=ann.email, role=Role.OWNER)

        response = sign_in(ann).post(path(approval), approve(approval, acting_for=other.pk))

        assert response.status_code == 404
        assert status() == FundingStatus.AWAITING_CONFIRMATION


class TestDeclining:
    def test_stops_it_and_keeps_the_reason(self, approval, ann_browser):
        response = ann_browser.post(path(approval), decline(approval), follow=True)

        assert status() == FundingStatus.FAILED
        assert b"by ann@acme.example: Not this week" in response.content
        assert (
            b"You declined adding $500.00 to the balance. Nothing is collected" in response.content
        )

    def test_needs_a_reason(self, approval, ann_browser):
        response = ann_browser.post(path(approval), decline(approval, reason=" "))

        assert response.status_code == 422
        assert b"id_reason_error" in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_after_the_time_is_over_is_too_late(self, approval, ann_browser):
        Confirmation.objects.update(expires_at=utc_now() - timedelta(seconds=1))

        response = ann_browser.post(path(approval), decline(approval), follow=True)

        assert b"The time to decide is over." in response.content
        assert b"Expired" in response.content


class TestAskingAgain:
    def age(self):
        OutgoingEmail.objects.update(created_at=utc_now() - timedelta(minutes=11))

    def test_mails_the_approvers_once_more(self, approval, dana, dana_browser):
        self.age()

        response = dana_browser.post(
            f"{path(approval)}/resend", {"acting_for": approval.tenant_id}, follow=True
        )

        assert b"We sent a new e-mail to ann@acme.example." in response.content
        assert OutgoingEmail.objects.filter(template="confirmation_request").count() == 2
        assert AuditEvent.objects.get(action="confirmation.resent").actor_id == dana.pk

    def test_every_line_has_a_button_of_the_one_form(self, approval, dana_browser):
        content = dana_browser.get("/dashboard/approvals").content.decode()

        assert f'form="resend" formaction="{path(approval)}/resend"' in content
        form = content.partition('<form id="resend" method="post" hidden>')[2].partition("</form>")[
            0
        ]
        assert "csrfmiddlewaretoken" in form
        assert f'name="acting_for" value="{approval.tenant_id}"' in form

    def test_is_refused_within_ten_minutes(self, approval, dana_browser):
        response = dana_browser.post(
            f"{path(approval)}/resend", {"acting_for": approval.tenant_id}, follow=True
        )

        assert b"Every approver got a link in the last ten minutes." in response.content
        assert OutgoingEmail.objects.filter(template="confirmation_request").count() == 1

    def test_is_nothing_for_viewers(self, approval, acme, sign_in):
        self.age()
        viewer = sign_in(make_member(acme, email="v@acme.example", role=Role.VIEWER))

        assert b"Send the e-mail again" not in viewer.get(PAGE).content
        response = viewer.post(f"{path(approval)}/resend", {"acting_for": acme.pk})

        assert response.status_code == 403
        assert OutgoingEmail.objects.filter(template="confirmation_request").count() == 1

    def test_of_another_tenant_is_not_found(self, approval, rival, ravi, sign_in):
        self.age()

        response = sign_in(ravi).post(f"{path(approval)}/resend", {"acting_for": rival.pk})

        assert response.status_code == 404
        assert OutgoingEmail.objects.filter(template="confirmation_request").count() == 1


class TestHistory:
    def test_says_how_each_one_ended(self, acme, ann, ann_browser, dana_browser):
        source = make_source(acme)
        make_auto_funding(acme, enabled=False, confirm_topups=True, confirmation_threshold=1)
        for amount in (11_100, 22_200, 33_300, 44_400):
            top_up(acme, source=source, amount=amount, now=utc_now())
        by_amount = {row.amount: row for row in Confirmation.objects.all()}
        ann_browser.post(path(by_amount[11_100]), approve(by_amount[11_100], typed_amount="111.00"))
        ann_browser.post(path(by_amount[22_200]), decline(by_amount[22_200]))
        topups.cancel(
            tenant_id=acme.pk,
            funding_id=by_amount[33_300].funding_id,
            actor=SYSTEM,
            now=utc_now(),
        )
        approval_sweeps.sweep(now=utc_now() + timedelta(days=4))

        content = dana_browser.get(PAGE).content.decode()

        for end in (
            "by ann@acme.example",
            "by ann@acme.example: Not this week",
            "It was canceled, or its terms changed.",
            "Nobody decided in time.",
        ):
            assert end in content
        for badge in ("Approved", "Declined", "Withdrawn", "Expired"):
            assert f">{badge}</span>" in content
        assert "Nothing to approve" in content

    def test_goes_back_page_by_page(self, acme, ann, dana_browser):
        self.make_expired(acme, 26)

        content = dana_browser.get(PAGE).content.decode()
        older = content.partition('rel="next" href="')[2].partition('"')[0]
        rest = dana_browser.get(older).content.decode()

        assert content.count("Nobody decided in time.") == 50  # wide and narrow
        assert rest.count("Nobody decided in time.") == 2
        assert "Newest" in rest

    def test_begins_behind_no_request_that_is_open_or_foreign(self, approval, rival, dana_browser):
        for other in (approval, ask(rival)):
            assert dana_browser.get(f"{PAGE}?before={other.pk}").status_code == 404

    def make_expired(self, tenant, count):
        source = make_source(tenant)
        make_auto_funding(tenant, enabled=False, confirm_topups=True, confirmation_threshold=1)
        for _ in range(count):
            top_up(tenant, source=source, amount=100, now=utc_now())
        approval_sweeps.sweep(now=utc_now() + timedelta(days=4))
