"""What takes two people at a rail: one proposes it, and nothing changes before another approves."""

from __future__ import annotations

import html

import pytest
import time_machine
from django.db import DatabaseError, transaction

from common.clock import utc_now
from networks.ach import sending
from networks.ach.models import AchProposal, Originator, OutFile
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tenants.services import accounts
from tests.builders import browser_of, make_staff
from tests.networks.ach import life
from tests.networks.ach.builders import FREEZE, RAIL, make_files, make_originator, make_rail

EXCEPTIONS = "/admin/desk/exceptions/"
RAIL_PAGE = f"/admin/desk/rails/{RAIL}/"
REASON = "Asked the bank by telephone"
COMPANY = {"company_name": "BALLAST", "company_id": "1234567890"}


@pytest.fixture(autouse=True)
def _at_the_time():
    with time_machine.travel(FREEZE, tick=True):
        yield


@pytest.fixture
def doubtful(db):
    """A file of which nobody knows whether the bank has it."""
    make_rail()
    make_originator()
    (file,) = make_files(2)
    life.release(file, FREEZE)
    stuck = {"temporary_name": "a.tmp", "stuck_code": "delivery_unknown", "stuck_at": FREEZE}
    OutFile.objects.update(next_attempt_at=None, **stuck)
    return OutFile.objects.get()


@pytest.fixture
def originator(db):
    make_rail()
    return make_originator(daily_debit_max=100_000, exposure_max=500_000)


def shown(browser, path):
    return html.unescape(browser.get(path, follow=True).content.decode())


def propose(browser, path, **fields):
    answer = browser.post(path, {"reason": REASON, **fields}, follow=True)
    return html.unescape(answer.content.decode())


def address():
    return f"/admin/desk/proposals/{AchProposal.objects.get(status='proposed').pk}/"


def decide(browser, decision="approve"):
    answer = browser.post(address(), {"decision": decision}, follow=True)
    return html.unescape(answer.content.decode())


def able(page):
    """Who can approve it, by its page."""
    return page.partition("Who can approve</dt><dd>")[2].partition("</dd>")[0]


def actions():
    rows = AuditEvent.objects.order_by("created_at", "pk")
    return [row.action for row in rows if row.action.split(".")[0] != "auth"]


class TestAFileInDoubt:
    def step(self, file, what):
        return f"/admin/desk/files/{file.pk}/{what}/"

    def test_goes_again_when_two_people_say_that_the_bank_does_not_have_it(
        self, desk, kim, doubtful
    ):
        told = propose(desk, self.step(doubtful, "not-at-bank"))

        file = OutFile.objects.get()
        assert (file.temporary_name, file.stuck_code) == ("a.tmp", "delivery_unknown")
        assert "Another person approves it." in told
        assert "waits for another person than" in told
        assert "For a second person: The bank does not have the file" in shown(kim, EXCEPTIONS)
        assert "all of its money moves twice" in shown(kim, address())

        assert "Approved: the file goes again, or its entries with the next one." in decide(kim)

        file.refresh_from_db()
        assert (file.temporary_name, file.stuck_code, file.status) == ("", "", "released")
        assert "For a second person" not in shown(kim, EXCEPTIONS)
        assert {"ach_proposal.proposed", "ach_proposal.approved", "ach_file.not_at_bank"} <= set(
            actions()
        )
        assert AuditEvent.objects.get(action="ach_file.not_at_bank").staff_note == REASON

    def test_tells_who_can_approve_it_and_from_when(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))

        page = shown(kim, address())
        assert "sam@ballast.example, " in page
        assert REASON in page
        assert "at once, and until somebody decides" in page
        assert able(page) == "ada@ballast.example, bob@ballast.example, kim@ballast.example"
        assert "You can approve it." in page

        own = shown(desk, address())
        assert "You proposed it, so somebody else decides." in own
        assert able(own) == able(page)

    def test_tells_a_new_colleague_why_not(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        new = browser_of(make_staff("new@ballast.example", since=utc_now()))

        page = shown(new, address())

        assert "Your account is younger than the proposal." in page
        assert 'value="approve"' not in page
        assert 'value="reject"' in page
        assert (
            "new@ballast.example" not in page.partition("Who can approve")[2].partition("</dd>")[0]
        )

    def test_is_sent_when_two_people_say_that_the_bank_has_it(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "at-bank"))
        assert OutFile.objects.get().status == "released"

        decide(kim)

        assert OutFile.objects.get().status == "sent"

    def test_is_not_decided_by_who_proposed_it(self, desk, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        assert "somebody else decides" in shown(desk, address())
        assert address() not in shown(desk, f"/admin/desk/files/{doubtful.pk}/")

        assert "somebody else decides" in decide(desk)

        assert OutFile.objects.get().temporary_name == "a.tmp"
        assert AchProposal.objects.get().status == "proposed"

    def test_is_not_decided_by_one_person_in_the_database_either(self, desk, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        row = AchProposal.objects.get()
        row.status, row.decided_by, row.decided_at = "approved", row.proposed_by, FREEZE

        with pytest.raises(DatabaseError, match="decided_by_another"), transaction.atomic():
            row.save(update_fields=["status", "decided_by", "decided_at"])

    def test_stays_as_it_is_if_it_is_rejected(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))

        assert "Rejected: everything stays as it was." in decide(kim, "reject")

        assert OutFile.objects.get().temporary_name == "a.tmp"
        assert "ach_file.not_at_bank" not in actions()
        propose(desk, self.step(doubtful, "at-bank"))
        assert AchProposal.objects.filter(status="proposed").count() == 1

    def test_has_one_proposal_at_a_time(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))

        assert "waits for a second person already" in propose(kim, self.step(doubtful, "at-bank"))

    def test_is_not_what_was_proposed_after_another_attempt(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        OutFile.objects.update(temporary_name="b.tmp")

        assert "It has changed since" in decide(kim)

        assert OutFile.objects.get().temporary_name == "b.tmp"

    def test_is_in_doubt_no_more_once_the_bank_has_answered(self, desk, kim, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        sending.sent(doubtful.pk, now=FREEZE)

        assert "Its sending is not in doubt" in decide(kim)

        assert OutFile.objects.get().status == "sent"

    def test_needs_who_may_release(self, desk, staff_with, doubtful):
        propose(desk, self.step(doubtful, "not-at-bank"))
        holder = staff_with("ach.view_outfile", "ach.hold_outfile", "ach.change_originator")

        assert holder.post(address(), {"decision": "approve"}).status_code == 403
        assert OutFile.objects.get().temporary_name == "a.tmp"


class TestAnOriginator:
    def page(self, row):
        return f"{RAIL_PAGE}originators/{row.pk}/"

    def limits(self):
        row = Originator.objects.get()
        return row.daily_debit_max, row.daily_credit_max, row.exposure_max

    def test_is_lowered_by_one_person(self, desk, originator):
        lower = {"daily_debit_max": "900", "daily_credit_max": "5", "exposure_max": "5,000"}
        propose(desk, self.page(originator), **COMPANY, **lower)

        assert self.limits() == (90_000, 500, 500_000)
        assert not AchProposal.objects.exists()

    @pytest.mark.parametrize(
        "changes",
        [
            {"daily_debit_max": "1,000.01"},
            {"daily_debit_max": ""},
            {"exposure_max": "5,000.01", "daily_debit_max": "1"},
            {"company_name": "OTHER"},
            {"company_id": "1234567891"},
        ],
    )
    def test_is_raised_or_named_otherwise_by_two(self, desk, kim, originator, changes):
        known = {**COMPANY, "daily_debit_max": "1,000", "exposure_max": "5,000"}
        before = self.limits(), originator.company_name, originator.company_id
        told = propose(desk, self.page(originator), **{**known, **changes})

        row = Originator.objects.get()
        assert (self.limits(), row.company_name, row.company_id) == before
        assert "It takes effect when somebody else approves it." in told
        assert "waits for another person than" in shown(kim, RAIL_PAGE)
        assert " → " in shown(kim, address())

        decide(kim)

        row.refresh_from_db()
        assert (self.limits(), row.company_name, row.company_id) != before
        assert AuditEvent.objects.filter(action="originator.assigned", subject_id=row.pk).exists()

    def test_is_not_raised_over_limits_that_were_lowered_since(self, desk, kim, originator):
        raised = {"daily_debit_max": "9,000", "exposure_max": "5,000"}
        propose(desk, self.page(originator), **COMPANY, **raised)
        propose(desk, self.page(originator), **COMPANY, daily_debit_max="1", exposure_max="1")

        assert "It has changed since" in decide(kim)

        assert self.limits() == (100, None, 100)

    def test_of_a_tenant_is_made_and_ended_by_two(self, desk, kim, originator, acme):
        propose(desk, f"{RAIL_PAGE}originators/new/", tenant=acme.pk, **COMPANY)
        assert Originator.objects.count() == 1
        assert "may imitate" not in shown(kim, address())
        accounts.rename(tenant_id=acme.pk, name="\u0410cme", actor=SYSTEM, now=utc_now())
        assert "“\u0410cme” contains the Cyrillic letter" in shown(kim, address())
        decide(kim)
        own = Originator.objects.get(tenant_id=acme.pk)

        propose(desk, f"{self.page(own)}end/")
        own.refresh_from_db()
        assert own.ended_at is None
        assert "and its limits" in shown(kim, address())
        decide(kim)

        own.refresh_from_db()
        assert own.ended_at is not None

    def test_debits_until_two_people_let_them_go_on(self, desk, kim, originator):
        Originator.objects.update(debits_stopped_at=FREEZE, debits_stopped_why="3 of 200 came back")

        propose(desk, f"{self.page(originator)}debits/")
        assert Originator.objects.get().debits_stopped_at == FREEZE
        assert "3 of 200 came back" in shown(kim, address())
        decide(kim)

        assert Originator.objects.get().debits_stopped_at is None

    def test_debits_are_stopped_for_something_else_meanwhile(self, desk, kim, originator):
        Originator.objects.update(debits_stopped_at=FREEZE, debits_stopped_why="3 of 200 came back")
        propose(desk, f"{self.page(originator)}debits/")
        Originator.objects.update(debits_stopped_why="50 of 250 came back")

        assert "It has changed since" in decide(kim)

        assert Originator.objects.get().debits_stopped_at == FREEZE
