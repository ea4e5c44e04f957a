"""Bank statements at the desk: accounts by two people, uploads, what was set aside, and lines."""

from __future__ import annotations

import html
import json
import sys
from io import StringIO
from unittest import mock

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command

from common.audits import Scope
from common.clock import utc_now
from desk.statements.forms import UPLOAD_BYTES_MAX
from networks.ach.models import AchProposal, InFile
from reconciliation import accounts, invariants, reading
from reconciliation.models import BankStatement, SettlementAccount, StatementLine
from tenants.models import AuditEvent, User
from tests.desk.ach import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.statements import MONDAY, NUMBER, OPENING, TUESDAY, bai2_of

LIST = "/admin/desk/statements/"
UPLOAD, NEW = f"{LIST}upload/", f"{LIST}accounts/new/"
REASON = "The letter of the bank"
WHO = ("--operator", "Olga", "--reason", REASON)
TYPED = {
    "rail": RAIL,
    "number": NUMBER,
    "format": "bai2",
    "opened_on": MONDAY.isoformat(),
    "cents": "10,000.00",
    "reason": REASON,
}


@pytest.fixture
def rail(db):
    return make_rail()


@pytest.fixture
def account(rail):
    return statements.in_force(rail=RAIL)


def shown(browser, path=LIST):
    return html.unescape(browser.get(path).content.decode())


def actions():
    return list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))


def upload(browser, content, name="monday.txt"):
    file = SimpleUploadedFile(name, content)
    return browser.post(UPLOAD, {"rail": RAIL, "file": file, "reason": REASON}, follow=True)


def decide(browser, decision, reason=""):
    """About the upload that waits."""
    address = f"/admin/desk/proposals/{AchProposal.objects.get().pk}/"
    return browser.post(address, {"decision": decision, "reason": reason}, follow=True)


def take(content):
    return statements.take(content, rail=RAIL)


class TestAnAccount:
    def test_is_put_in_force_by_two_people(self, rail, desk, kim):
        desk.post(NEW, TYPED)
        row = SettlementAccount.objects.get()
        assert (row.status, row.opening) == ("proposed", OPENING)
        assert "Waits for a second person" in shown(kim)

        kim.post(f"{LIST}accounts/{row.pk}/", {"decision": "approve"})

        row.refresh_from_db()
        assert row.status == "current"
        assert actions()[-2:] == ["settlement_account.proposed", "settlement_account.approved"]
        assert NUMBER not in json.dumps(list(AuditEvent.objects.values_list("details", flat=True)))

    def test_is_not_approved_by_who_proposed_it(self, rail, desk):
        desk.post(NEW, TYPED)
        row = SettlementAccount.objects.get()

        answer = desk.post(f"{LIST}accounts/{row.pk}/", {"decision": "approve"}, follow=True)

        assert "somebody else decides" in answer.content.decode()
        assert not accounts.has_any(RAIL)

    def test_is_rejected(self, rail, desk, kim):
        desk.post(NEW, TYPED)
        kim.post(f"{LIST}accounts/{SettlementAccount.objects.get().pk}/", {"decision": "reject"})

        assert SettlementAccount.objects.get().status == "rejected"
        assert "No account yet" in shown(desk)

    def test_needs_a_balance_that_can_be(self, rail, desk):
        answer = desk.post(NEW, {**TYPED, "cents": "-1"})

        assert "A balance like" in answer.content.decode()
        assert not SettlementAccount.objects.exists()

    def test_is_put_in_force_by_a_command(self, rail):
        told = StringIO()
        terms = ("--format", "bai2", "--opened-on", "2026-11-16", "--opening", "1000000")
        with mock.patch.object(sys, "stdin", StringIO(f"{NUMBER}\n")):
            call_command("settlement_account", RAIL, *terms, *WHO, "--json", stdout=told)

        row = SettlementAccount.objects.get()
        assert json.loads(told.getvalue()) == {
            "accountId": row.pk,
            "rail": RAIL,
            "last4": NUMBER[-4:],
        }
        assert (row.status, row.by_command) == ("current", True)
        assert actions()[-1] == "settlement_account.put_in_force"


class TestUpload:
    def test_waits_for_a_second_person(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000))
        reading.read_due(now=utc_now())

        assert InFile.objects.get().status == "waiting"
        assert not BankStatement.objects.exists()
        assert actions()[-2:] == ["bank_statement.uploaded", "ach_proposal.proposed"]
        page = shown(kim)
        assert "Needs approval" in page
        assert "waits for another person than sam@ballast.example" in page
        assert "An uploaded bank statement is taken" in shown(kim, "/admin/desk/exceptions/")

    def test_says_what_it_says_before_it_is_taken(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000, -200))

        page = shown(kim, f"/admin/desk/proposals/{AchProposal.objects.get().pk}/")

        assert f"··{NUMBER[-4:]}" in page
        assert "not our account" not in page
        for fact in ("Nov 16, 2026", "$10,000.00", "$50.00", "$2.00", "$10,048.00", "<dd>2</dd>"):
            assert fact in page
        assert "You can approve it." in page

    def test_of_a_strange_account_says_so(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000, account="0123456789"))

        page = shown(kim, f"/admin/desk/proposals/{AchProposal.objects.get().pk}/")

        assert "··6789 <strong>is not our account at this rail</strong>" in page

    def test_is_taken_once_another_person_approved_it(self, account, desk, sam, kim):
        upload(desk, bai2_of(MONDAY, 5_000))

        decide(kim, "approve")
        reading.read_due(now=utc_now())

        assert BankStatement.objects.get().file.uploaded_by == sam.pk
        assert actions()[-2:] == ["ach_proposal.approved", "bank_statement.approved"]
        page = shown(desk)
        assert "$10,050.00" in page
        assert "Proven up to Nov 16, 2026" in page
        assert "Needs approval" not in page

    def test_is_not_approved_by_who_uploaded_it(self, account, desk):
        upload(desk, bai2_of(MONDAY, 5_000))

        answer = decide(desk, "approve")

        assert "somebody else decides" in answer.content.decode()
        assert InFile.objects.get().status == "waiting"

    def test_is_not_approved_where_who_uploaded_it_left(self, account, desk, sam, kim):
        upload(desk, bai2_of(MONDAY, 5_000))
        User.objects.filter(pk=sam.pk).update(is_staff=False, is_superuser=False)

        answer = decide(kim, "approve")

        assert "does not work here any more" in answer.content.decode()
        assert InFile.objects.get().status == "waiting"

    def test_is_rejected_for_good_with_a_reason(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000))

        answer = decide(kim, "reject")
        assert "Say why you reject it." in answer.content.decode()
        assert InFile.objects.get().status == "waiting"
        decide(kim, "reject", "The bank shows another balance")
        reading.read_due(now=utc_now())

        file = InFile.objects.get()
        assert (file.status, file.resolution) == ("resolved", "The bank shows another balance")
        assert file.resolved_by == User.objects.get(email="kim@ballast.example").pk
        assert AuditEvent.objects.latest("pk").staff_note == "The bank shows another balance"
        assert not BankStatement.objects.exists()

    def test_that_was_rejected_can_be_uploaded_again_and_waits_again(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000))
        decide(kim, "reject", "Whoever uploaded it cannot say whence it is")

        upload(desk, bai2_of(MONDAY, 5_000))

        assert sorted(InFile.objects.values_list("status", flat=True)) == ["resolved", "waiting"]

    @pytest.mark.parametrize("decision", ["", "reject"])
    def test_keeps_no_file_of_the_bank_out(self, account, desk, kim, decision):
        upload(desk, bai2_of(MONDAY, 5_000))
        if decision:
            decide(kim, decision, "It looks forged")

        take(bai2_of(MONDAY, 5_000))

        assert BankStatement.objects.get().file.uploaded_by == ""

    def test_that_the_bank_sent_itself_meanwhile_changes_nothing(self, account, desk, kim):
        upload(desk, bai2_of(MONDAY, 5_000))
        take(bai2_of(MONDAY, 5_000))
        address = f"/admin/desk/proposals/{AchProposal.objects.get().pk}/"
        assert "The bank itself sent a file with the same bytes" in shown(kim, address)

        decide(kim, "approve")
        reading.read_due(now=utc_now())

        assert BankStatement.objects.get().file.uploaded_by == ""
        upload_ = InFile.objects.exclude(uploaded_by="").get()
        assert (upload_.status, statements.codes(upload_)) == ("applied", ["statement_known"])
        assert not list(invariants.check(Scope(full=True)))

    def test_of_what_we_have_says_so(self, account, desk):
        take(bai2_of(MONDAY, 5_000))

        answer = upload(desk, bai2_of(MONDAY, 5_000))

        assert "We have this file already" in answer.content.decode()
        assert InFile.objects.count() == 1

    @pytest.mark.parametrize(
        "size", [0, UPLOAD_BYTES_MAX + 1, settings.FILE_UPLOAD_MAX_MEMORY_SIZE]
    )
    def test_is_bounded(self, account, desk, size):
        answer = upload(desk, b"0" * size)

        assert answer.status_code == 200
        assert not InFile.objects.exists()

    def test_of_an_odd_name_is_refused(self, account, desk):
        answer = upload(desk, b"01,", name="ä.txt")

        assert "characters that could do harm" in answer.content.decode()
        assert not InFile.objects.exists()


class TestWhatWasSetAside:
    def test_says_what_to_do(self, account, desk):
        file = take(bai2_of(TUESDAY, 5_000))

        assert "ask the bank for it" in shown(desk)
        page = shown(desk, f"/admin/desk/exceptions/files/{file.pk}/")
        assert "Try again" in page
        assert "Dismiss" in page
        assert "Resolve" not in page

    def test_is_tried_again(self, account, desk):
        file = take(bai2_of(TUESDAY, 5_000))

        desk.post(f"/admin/desk/exceptions/files/{file.pk}/take-again/", {"reason": REASON})

        file.refresh_from_db()
        assert file.status == "stored"

    def test_is_dismissed_by_two_people(self, account, desk, kim):
        file = take(bai2_of(TUESDAY, 5_000))
        address = f"/admin/desk/exceptions/files/{file.pk}/"
        desk.post(f"{address}propose-dismissal/", {"reason": REASON})
        file.refresh_from_db()
        assert file.status == "review"
        assert "waits for another person" in shown(kim, address)

        proposal = AchProposal.objects.get()
        assert "never taken" in shown(kim, f"/admin/desk/proposals/{proposal.pk}/")
        kim.post(f"/admin/desk/proposals/{proposal.pk}/", {"decision": "approve"})

        file.refresh_from_db()
        assert (file.status, file.resolution) == ("resolved", REASON)
        assert file.resolved_by == User.objects.get(email="sam@ballast.example").pk
        assert actions()[-1] == "bank_statement.dismissed"


class TestAStatement:
    def test_shows_its_lines_fifty_a_page(self, account, desk):
        take(bai2_of(MONDAY, *range(1, 53)))
        address = f"{LIST}{BankStatement.objects.get().pk}/"

        first = shown(desk, address)
        assert "52 lines" in first
        assert "REF1650" in first
        assert "REF1651" not in first
        after = StatementLine.objects.order_by("position")[49].position
        assert f"?after={after}" in first
        rest = shown(desk, f"{address}?after={after}")
        assert "REF1652" in rest
        assert "REF1650" not in rest

    def test_shows_texts_on_demand_and_writes_down_to_whom(self, account, desk):
        take(bai2_of(MONDAY, 5_000))
        line = StatementLine.objects.get()
        address = f"{LIST}{line.statement_id}/"
        assert "ACH SETTLEMENT" not in shown(desk, address)

        answer = desk.post(f"{address}lines/{line.position}/")

        page = html.unescape(answer.content.decode())
        assert "ACH SETTLEMENT" in page
        assert f"Record {line.position} of the file" in page
        assert '<pre class="desk-mono">16,166,5000,0,' in page
        event = AuditEvent.objects.latest("pk")
        assert (event.action, event.details["position"]) == (
            "statement_line.revealed",
            line.position,
        )

    @pytest.mark.parametrize("address", ["bst_x/", "bst_x/?after=x", "\0/"])
    def test_that_is_none_is_not_found(self, rail, desk, address):
        assert desk.get(LIST + address).status_code == 404


class TestTheCommand:
    def test_takes_a_file(self, account, tmp_path):
        path, told = tmp_path / "monday.txt", StringIO()
        path.write_bytes(bai2_of(MONDAY, 5_000))

        call_command("read_statement", str(path), "--rail", RAIL, *WHO, "--json", stdout=told)

        row = BankStatement.objects.get()
        assert row.file.by_command
        event = AuditEvent.objects.get(action="bank_statement.uploaded")
        assert (event.details["alone"], event.details["operator"]) == (True, "Olga")
        assert not list(invariants.check(Scope(full=True)))
        said = json.loads(told.getvalue())
        assert (said["status"], said["isNew"], said["faults"]) == ("applied", True, [])
        assert said["statements"] == [
            {
                "statementId": row.pk,
                "lastDay": "2026-11-16",
                "opening": OPENING,
                "closing": OPENING + 5_000,
                "lines": 1,
            }
        ]

    def test_says_why_a_file_was_set_aside(self, account, tmp_path):
        path, told = tmp_path / "monday.txt", StringIO()
        path.write_bytes(b"not a statement")

        call_command("read_statement", str(path), "--rail", RAIL, *WHO, "--json", stdout=told)

        said = json.loads(told.getvalue())
        assert (said["status"], said["faults"][0]["code"]) == ("review", "format_unknown")

    @pytest.mark.parametrize("rail_name", ["other", RAIL])
    def test_refuses_what_is_not_there(self, account, tmp_path, rail_name):
        with pytest.raises(CommandError):
            call_command("read_statement", str(tmp_path / "none"), "--rail", rail_name, *WHO)
        assert not InFile.objects.exists()
