"""The page behind a magic link, as approvers, scanners and strangers meet it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.db import connection
from django.test import Client

from common.clock import utc_now
from dashboard.shell import magic_links
from funding.models import AutoFundingConfig, Confirmation, FundingTransaction
from funding.services import auto_funding, auto_funding_config
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.models import Role, User
from tenants.services import accounts, emails, switches
from tenants.switches import SwitchKind
from tests.builders import browser_of, make_auto_funding, make_member, make_source
from tests.database import owner
from tests.settings import DATABASE_APPLICATION_ROLE

APPROVE = {"decision": "approve", "typed_amount": "500.00"}
DECLINE = {"decision": "decline", "reason": "Not this week"}


@pytest.fixture
def links(acme):
    """An approval about $500.00 and the links of its two approvers, ann and ben."""
    for name in ("ann", "ben"):
        make_member(acme, email=f"{name}@acme.example", role=Role.APPROVER)
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=10_000)
    auto_funding.evaluate(tenant_id=acme.pk, now=utc_now())
    emails.send_due(now=utc_now())
    return {
        message.to[0].partition("@")[0]: re.findall(r"http://\S+(/confirm/\S+)", str(message.body))[
            0
        ]
        for message in mail.outbox
    }


@pytest.fixture
def link(links):
    return links["ann"]


def status():
    return FundingTransaction.objects.get().status


def age(**delta):
    """Let the approval have been asked longer ago."""
    Confirmation.objects.update(expires_at=utc_now() + timedelta(**delta))


class TestWall:
    """Only whose link it is, is asked before; all else sees the rows of that tenant."""

    @pytest.fixture(autouse=True)
    def _closed(self, link):
        with owner.as_owner(), connection.cursor() as cursor:
            for table in ("funding_confirmation", "funding_confirmationlink", "payments_payment"):
                cursor.execute(f"REVOKE ALL ON {table} FROM {DATABASE_APPLICATION_ROLE}")

    def test_is_around_the_page(self, client, link):
        assert "$500.00" in client.get(link).content.decode()

    def test_is_around_the_answer(self, client, link):
        assert client.post(link, APPROVE).status_code == 302
        assert client.get(link).status_code == 200

        assert status() != FundingStatus.AWAITING_CONFIRMATION

    def test_is_not_passed_by_a_link_of_nobody(self, client):
        assert client.get(f"/confirm/{'A' * 43}/").status_code == 404


class TestLooking:
    def test_shows_everything_there_is_to_decide(self, client, link):
        content = client.get(link).content.decode()

        for fact in ("Acme", "$500.00", "ending in 6789", "$100.00", "ann@acme.example", "EST"):
            assert fact in content

    def test_warns_of_letters_that_look_like_others(self, acme, client, link):
        before = client.get(link).content.decode()
        accounts.rename(tenant_id=acme.pk, name="\u0410cme", actor=SYSTEM, now=utc_now())

        after = client.get(link).content.decode()

        assert ("Look at the names" in before, "Look at the names" in after) == (False, True)
        assert "“\u0410cme” contains the Cyrillic letter" in after

    @pytest.mark.parametrize("method", ["get", "head", "options"])
    def test_changes_nothing_however_often(self, client, link, method):
        for _ in range(3):
            getattr(client, method)(link)

        assert status() == FundingStatus.AWAITING_CONFIRMATION
        assert Confirmation.objects.get().decision == "open"

    def test_is_kept_out_of_caches_referrers_and_search_engines(self, client, link):
        response = client.get(link)

        assert response["Cache-Control"] == "no-store"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["X-Robots-Tag"] == "noindex, nofollow"

    def test_runs_no_script(self, client, link):
        response = client.get(link)

        assert "script-src 'none'" in response["Content-Security-Policy"]
        assert "<script" not in response.content.decode()

    def test_needs_no_account(self, link):
        assert Client().get(link).status_code == 200

    @pytest.mark.parametrize("token", ["x", "A" * 43, "A" * 5000, "%00"])
    def test_a_link_we_never_made_is_not_found(self, client, db, token):
        response = client.get(f"/confirm/{token}/")

        assert response.status_code == 404
        assert response["Referrer-Policy"] == "no-referrer"


class TestApproving:
    @pytest.mark.parametrize("typed", ["500.00", "$500.00", " 500 "])
    def test_lets_the_funding_go_ahead(self, client, link, typed):
        response = client.post(link, {**APPROVE, "typed_amount": typed})

        assert response.status_code == 302
        assert response["Location"] == link
        assert status() == FundingStatus.RESERVED
        assert b"Approved" in client.get(link).content

    @pytest.mark.parametrize("typed", ["", "499.99", "50000", "yes", "5e2", "\u0665\u0660\u0660"])
    def test_another_amount_is_refused_beside_the_field(self, client, link, typed):
        response = client.post(link, {**APPROVE, "typed_amount": typed})

        assert response.status_code == 422
        assert b"field--invalid" in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_a_post_without_anything_approves_nothing(self, client, link):
        assert client.post(link).status_code == 422
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_of_a_suspended_tenant_is_refused_with_the_reason(self, client, link, acme):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=utc_now())

        response = client.post(link, APPROVE)

        assert response.status_code == 409
        assert b"This tenant is suspended." in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_a_link_we_never_made_approves_nothing(self, client, link):
        assert client.post(f"/confirm/{'A' * 43}/", APPROVE).status_code == 404
        assert status() == FundingStatus.AWAITING_CONFIRMATION


class TestDeclining:
    def test_ends_the_funding_with_the_reason(self, client, link):
        response = client.post(link, DECLINE)

        assert response["Location"] == link
        assert status() == FundingStatus.FAILED
        content = client.get(link).content.decode()
        assert "Declined" in content
        assert "Not this week" in content

    def test_needs_a_reason(self, client, link):
        response = client.post(link, {**DECLINE, "reason": "  "})

        assert response.status_code == 422
        assert b"Say why in a few words." in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_shows_a_reason_as_text(self, client, link):
        client.post(link, {**DECLINE, "reason": "<script>alert(1)</script>"})

        assert b"&lt;script&gt;" in client.get(link).content


class TestTheEnd:
    def test_the_second_approver_sees_who_decided(self, client, links):
        client.post(links["ann"], APPROVE)

        late = client.post(links["ben"], DECLINE)

        assert late.status_code == 409
        for content in (late.content.decode(), client.get(links["ben"]).content.decode()):
            assert "Approved" in content
            assert "ann@acme.example" in content
        assert status() == FundingStatus.RESERVED

    def test_nobody_decides_after_the_time(self, client, link):
        age(seconds=-1)

        response = client.post(link, APPROVE)

        assert response.status_code == 409
        assert b"This request has expired" in response.content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_changed_terms_withdraw_the_approval(self, client, link, acme):
        auto_funding_config.configure(
            tenant_id=acme.pk, changes={"funding_amount": 60_000}, actor=SYSTEM, now=utc_now()
        )

        response = client.post(link, APPROVE)

        assert response.status_code == 409
        assert b"No longer needed" in response.content


class TestForgery:
    @pytest.fixture
    def strict(self):
        return Client(enforce_csrf_checks=True)

    def token(self, strict, link):
        content = strict.get(link).content.decode()
        return re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', content)[0]

    def test_without_a_token_is_refused(self, strict, link):
        strict.get(link)

        response = strict.post(link, APPROVE)

        assert response.status_code == 403
        assert response["Referrer-Policy"] == "no-referrer"
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_without_the_cookie_is_refused(self, strict, link):
        token = self.token(strict, link)
        strict.cookies.clear()

        response = strict.post(link, {**APPROVE, "csrfmiddlewaretoken": token})

        assert response.status_code == 403

    def test_from_another_site_is_refused(self, strict, link):
        body = {**APPROVE, "csrfmiddlewaretoken": self.token(strict, link)}

        response = strict.post(link, body, headers={"Origin": "https://evil.example"})

        assert response.status_code == 403

    def test_the_page_itself_may_post_although_it_hides_its_origin(self, strict, link):
        body = {**APPROVE, "csrfmiddlewaretoken": self.token(strict, link)}

        response = strict.post(link, body, headers={"Origin": "null"})

        assert response.status_code == 302
        assert status() == FundingStatus.RESERVED

    def test_that_holds_for_https_too(self, strict, link):
        body = {**APPROVE, "csrfmiddlewaretoken": self.token(strict, link)}

        response = strict.post(link, body, headers={"Origin": "null"}, secure=True)

        assert response.status_code == 302

    def test_a_browser_that_names_no_origin_may_post_too(self, strict, link):
        body = {**APPROVE, "csrfmiddlewaretoken": self.token(strict, link)}

        assert strict.post(link, body, secure=True).status_code == 302

    def test_over_https_a_foreign_referrer_is_refused(self, strict, link):
        body = {**APPROVE, "csrfmiddlewaretoken": self.token(strict, link)}

        response = strict.post(
            link, body, headers={"Referer": "https://evil.example/"}, secure=True
        )

        assert response.status_code == 403

    def test_an_origin_of_null_opens_no_other_page(self, db, strict):
        response = strict.post("/accounts/login/", {}, headers={"Origin": "null"})

        assert response.status_code == 403


class TestPace:
    def test_a_link_takes_so_many_posts_a_minute(self, client, link, monkeypatch):
        monkeypatch.setattr(magic_links, "POSTS_PER_MINUTE", 2)
        for _ in range(2):
            client.post(link, {**APPROVE, "typed_amount": "1"})

        response = client.post(link, APPROVE)

        assert response.status_code == 429
        assert response["Retry-After"] == "60"
        assert status() == FundingStatus.AWAITING_CONFIRMATION
        assert client.get(link).status_code == 200


class TestSecrecy:
    def test_the_token_reaches_no_log(self, client, link, log):
        token = link.split("/")[2]
        client.get(link)
        client.post(link, {**APPROVE, "typed_amount": "1"})
        Client(enforce_csrf_checks=True).post(link, APPROVE)

        assert "/confirm/[redacted]" in log.text
        assert token not in log.text

    def test_the_token_is_not_in_the_page(self, client, link):
        assert link.split("/")[2] not in client.get(link).content.decode()


@pytest.mark.parametrize("decision", [APPROVE, DECLINE])
def test_nothing_is_decided_while_operators_let_nothing_be_changed(client, link, decision):
    switches.engage(kind=SwitchKind.READ_ONLY, reason="x", actor=SYSTEM, now=utc_now())

    answer = client.post(link, decision)

    assert answer.status_code == 503
    assert "Nothing can be changed for the moment" in answer.content.decode()
    assert status() == FundingStatus.AWAITING_CONFIRMATION


class TestWhatNoLongerFits:
    @pytest.fixture
    def full(self, link):
        AutoFundingConfig.objects.update(monthly_limit=49_999)
        return link

    def test_is_said_to_the_holder_of_a_link(self, client, full):
        answer = client.post(full, APPROVE)

        content = answer.content.decode()
        assert answer.status_code == 409
        assert "This amount no longer fits your limits" in content
        assert (
            "At most $499.99 a month is added automatically. $0.00 was asked for this month"
            in content
        )
        assert "Approve $500.00" in content
        assert status() == FundingStatus.AWAITING_CONFIRMATION

    def test_is_said_to_who_is_signed_in(self, full):
        approval = Confirmation.objects.get()
        browser = browser_of(User.objects.get(email="ann@acme.example"))

        form = {**APPROVE, "acting_for": approval.tenant_id}
        answer = browser.post(f"/dashboard/approvals/{approval.pk}", form)

        content = answer.content.decode()
        assert answer.status_code == 422
        assert "At most $499.99 a month" in content
        assert "Raise the limit, or wait until" in content
        assert status() == FundingStatus.AWAITING_CONFIRMATION
