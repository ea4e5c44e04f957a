"""Pages of what takes two: what is proposed, by whom and why, who may decide it and when."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.admin.utils import quote
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import proposals
from balance.models import AdjustmentProposal
from common import days
from common.clock import utc_now
from tenants import actors
from tenants.access import AccessKind, AccessProposal
from tenants.services import access
from tests.builders import browser_of, make_member, make_staff, make_tenant

ADD = "/admin/tenants/accessproposal/add/"
WHY = "The owner asked in writing"
LOCKS = re.compile(r"\bFOR (NO KEY |KEY )?(UPDATE|SHARE)\b")


@pytest.fixture
def ann(db):
    return make_staff("ann@ballast.example")


@pytest.fixture
def ben(db):
    return make_staff("ben@ballast.example")


def propose(by, *, hours_ago=0, **terms):
    values = {"kind": AccessKind.MEMBER, "email": "lee@acme.example", "reason": WHY, **terms}
    at = utc_now() - timedelta(hours=hours_ago)
    return access.propose(**values, actor=actors.staff(by.pk), now=at)


def page_of(proposal, act="change"):
    """As lists link to it: the admin quotes the underscore of an id."""
    pk = quote(proposal.pk) if act == "change" else proposal.pk
    return f"/admin/tenants/accessproposal/{pk}/{act}/"


def shown(browser, path):
    return browser.get(path).content.decode()


class TestTheForm:
    def test_asks_first_what_is_proposed(self, ann):
        page = shown(browser_of(ann), ADD)

        for kind in AccessKind:
            assert f'href="?kind={kind}"' in page
        assert 'name="reason"' not in page

    @pytest.mark.parametrize(
        ("kind", "title", "asks", "asks_not"),
        [
            ("member", "Propose a role in a tenant", {"tenant", "role"}, {"new_email", "groups"}),
            ("address", "Propose another address of a person", {"new_email"}, {"role", "groups"}),
            ("power", "Propose roles of staff", {"groups"}, {"tenant", "role", "new_email"}),
        ],
    )
    def test_says_what_it_proposes_and_asks_for_that_alone(self, ann, kind, title, asks, asks_not):
        page = shown(browser_of(ann), f"{ADD}?kind={kind}")

        assert title in page
        assert f'name="kind" value="{kind}"' in page
        for name in asks | {"email", "reason", "is_emergency"}:
            assert f'name="{name}"' in page
        for name in asks_not:
            assert f'name="{name}"' not in page
        assert f"{settings.STAFF_ACCESS_DELAY_HOURS} hours" in page

    def test_keeps_what_was_typed_where_it_is_refused(self, ann):
        typed = {
            "kind": "address",
            "email": "nobody@acme.example",
            "new_email": "lee@new.example",
            "reason": WHY,
        }

        page = browser_of(ann).post(ADD, typed).content.decode()

        assert "Nobody has the address nobody@acme.example." in page
        for value in ("nobody@acme.example", "lee@new.example", WHY):
            assert f'value="{value}"' in page
        assert not AccessProposal.objects.exists()


IMITATED = "\u0410cme"  # the first letter is Cyrillic
WARNED = f"“{IMITATED}” contains the Cyrillic letter “{IMITATED[0]}”"


class TestNamesThatMislead:
    """Whoever proposes and whoever approves reads names that somebody else chose."""

    @pytest.fixture
    def imitated(self, db):
        return make_tenant(name=f"{IMITATED} Inc")

    def test_are_named_where_a_role_is_proposed_and_approved(self, imitated, ann, ben):
        proposal = propose(ann, tenant=imitated, role="owner", email="lee@\u0430cme.example")

        for path in (page_of(proposal), page_of(proposal, "approve"), page_of(proposal, "reject")):
            page = shown(browser_of(ben), path)
            assert WARNED in page
            assert "(lee@xn--cme-5cd.example)" in page

    def test_are_named_to_who_proposes_a_correction(self, imitated, ann):
        typed = {"tenant": imitated.pk, "type": "credit", "amount": "5.00", "reason": "Fee"}
        typed |= {"expires_at_0": "2030-01-01", "expires_at_1": "12:00:00"}

        told = browser_of(ann).post("/admin/balance/adjustmentproposal/add/", typed, follow=True)

        assert AdjustmentProposal.objects.count() == 1
        assert WARNED in told.content.decode()

    def test_are_named_where_a_correction_is_approved(self, acme, ann, ben):
        proposal = proposals.propose(
            tenant_id=acme.pk,
            type="credit",
            amount=500,
            reason=f"As {IMITATED} asked",
            actor=actors.staff(ann.pk),
            now=utc_now(),
        )
        page = f"/admin/balance/adjustmentproposal/{proposal.pk}/approve/"

        assert WARNED in shown(browser_of(ben), page)

    def test_others_are_not(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        assert "may imitate" not in shown(browser_of(ben), page_of(proposal, "approve"))


class TestTheProposal:
    def test_tells_whoever_looks_all_about_it(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        page = shown(browser_of(ben), page_of(proposal))

        assert "ann@ballast.example" in page
        assert WHY in page
        assert days.words(proposal.waits_until) in page
        assert days.words(proposal.ends_at) in page
        assert f"You can approve it from {days.words(proposal.waits_until)}." in page
        assert "ben@ballast.example" in page

    def test_tells_who_proposed_it_why_it_is_not_theirs_to_decide(self, acme, ann, ben):
        page = shown(browser_of(ann), page_of(propose(ann, tenant=acme, role="owner")))

        assert "You proposed it, so somebody else decides." in page
        assert "ben@ballast.example" in page

    def test_tells_whom_it_is_about_why_it_is_not_theirs_to_decide(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", email=ben.email)

        assert "It is about you, so somebody else decides." in shown(
            browser_of(ben), page_of(proposal)
        )

    def test_tells_a_new_colleague_why_not(self, acme, ann):
        proposal = propose(ann, tenant=acme, role="owner", hours_ago=30)
        new = make_staff("new@ballast.example", since=utc_now())

        page = shown(browser_of(new), page_of(proposal))

        assert "Your account is younger than the proposal." in page
        assert "Nobody can approve it yet" in page

    def test_can_be_approved_once_its_day_is_over(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", hours_ago=30)

        assert "You can approve it." in shown(browser_of(ben), page_of(proposal))

    def test_that_is_decided_asks_nobody(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", hours_ago=30)
        access.reject(proposal_id=proposal.pk, note="No", actor=actors.staff(ben.pk), now=utc_now())

        assert "can approve it" not in shown(browser_of(ben), page_of(proposal))

    def test_keeps_the_note_of_an_approval_that_is_refused(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")

        answer = browser_of(ben).post(page_of(proposal, "approve"), {"reason": "Called back"})

        assert answer.status_code == 422
        assert "It waits until" in answer.content.decode()
        assert "Called back" in answer.content.decode()
        proposal.refresh_from_db()
        assert proposal.decision == "open"

    def test_shows_who_asked_and_why_where_it_is_approved(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner", hours_ago=30)

        page = shown(browser_of(ben), page_of(proposal, "approve"))

        assert "ann@ballast.example" in page
        assert WHY in page

    @pytest.mark.parametrize("act", ["change", "approve"])
    def test_locks_no_row(self, acme, ann, ben, act):
        proposal, browser = propose(ann, tenant=acme, role="owner", hours_ago=30), browser_of(ben)

        with CaptureQueriesContext(connection) as queries:
            assert browser.get(page_of(proposal, act)).status_code == 200

        assert [each["sql"] for each in queries if LOCKS.search(each["sql"])] == []

    @pytest.mark.parametrize(
        ("is_member", "words"),
        [
            (True, "is approved: lee@acme.example is now owner of Acme. Its owners are told."),
            (False, "lee@acme.example is invited by e-mail as owner of Acme. Its owners are told."),
        ],
    )
    def test_says_what_its_approval_has_done(self, acme, ann, ben, is_member, words):
        if is_member:
            make_member(acme, email="lee@acme.example")
        proposal = propose(ann, tenant=acme, role="owner", hours_ago=30)
        typed = {"reason": "Called back"}

        told = browser_of(ben).post(page_of(proposal, "approve"), typed, follow=True)

        assert words in told.content.decode()

    def test_says_that_a_rejection_has_done_nothing(self, acme, ann, ben):
        proposal = propose(ann, tenant=acme, role="owner")
        typed = {"reason": "Not by phone"}

        told = browser_of(ben).post(page_of(proposal, "reject"), typed, follow=True)

        assert "is rejected: everything stays as it was." in told.content.decode()

    def test_has_one_zone_on_its_pages(self, acme, ann, ben):
        make_member(acme, email="dana@acme.example")
        proposal = propose(ann, tenant=acme, role="owner")

        for path in (page_of(proposal), page_of(proposal, "approve"), ADD.removesuffix("add/")):
            page = shown(browser_of(ben), path)
            assert " UTC" not in page
            assert days.words(proposal.waits_until) in page


def test_an_open_proposal_tells_each_thing_once(ann, ben, db):
    tenant = make_tenant()
    proposal = propose(ann, tenant=tenant, role="owner", is_emergency=True)

    page = shown(browser_of(ben), page_of(proposal))

    assert page.count(WHY) == 1
    assert page.count(ann.email) == 1
    assert "<dt>Emergency</dt><dd>Yes</dd>" in page
