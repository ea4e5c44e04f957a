"""Exceptions at the desk: what comes due first is on top, and every decision has who and why."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
import time_machine

from desk.exceptions import codes, lines
from desk.home.attention import of_ach
from networks import return_codes
from networks.ach.models import (
    AchReply,
    InFile,
    InRecord,
    Originator,
    OutFile,
)
from networks.ach.nacha import codes as rules
from tenants.models import AuditEvent
from tests.desk.ach import approve
from tests.desk.exceptions import LIST, REASON, address, audited, decide, shown
from tests.networks.ach.inbound.builders import (
    ACCOUNT,
    NOW,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    make_rail,
    returned,
    take,
)
from tests.networks.ach.nacha import raw


@pytest.fixture(autouse=True)
def _at_the_time():
    with time_machine.travel(NOW, tick=True):
        yield


@pytest.fixture
def batch(db):
    return make_batch(make_rail())


@pytest.fixture
def entry(batch):
    return make_entry(batch)


def record_of(*pairs):
    file = take(answer_file(answer_batch(*(line for pair in pairs for line in pair))))
    return InRecord.objects.filter(file=file).order_by("-line").first()


@pytest.fixture
def short(entry):
    """A return that is one cent short."""
    return record_of(returned(entry, amount=149_99))


@pytest.fixture
def late(batch):
    """A return that came after its time, and was applied."""
    before = make_entry(batch, 2, settled=date(2026, 11, 20), status="final")
    return record_of(returned(before, "R02"))


class TestCodes:
    def test_are_those_of_the_rules(self):
        assert set(codes.DISHONORED) == rules.DISHONORED_CODES
        assert set(codes.REFUSED) == rules.REFUSAL_CODES
        assert set(return_codes.CHANGES) == rules.CHANGE_CODES


class TestList:
    def test_has_what_comes_due_first_on_top(
        self, desk, short, late, batch, django_assert_max_num_queries
    ):
        OutFile.objects.filter(pk=batch.file_id).update(
            acknowledgment_due_at=NOW - timedelta(hours=1)
        )
        InRecord.objects.filter(pk=late.pk).update(due_on=date(2026, 11, 27))
        InFile.objects.filter(pk=late.file_id).update(status="applied")
        take(["nothing of a file"])

        with django_assert_max_num_queries(22):
            content = shown(desk)

        titles = [
            f"No acknowledgment: {batch.file}",
            "File set aside: returns.ach",
            "Late: Return, R02: Account closed",
            "Return, R01: Insufficient funds",
        ]
        places = [content.find(title) for title in titles]
        assert places == sorted(places)
        assert -1 not in places
        assert "Over since" in content
        assert "has another amount" in content

    def test_says_of_which_day_the_end_was_the_deadline(self, desk, short):
        InRecord.objects.filter(pk=short.pk).update(due_on=date(2026, 11, 20))

        assert "Over since the end of Nov 20, 2026" in shown(desk)

    def test_says_that_there_is_nothing(self, desk, db):
        assert "Nothing needs a decision" in shown(desk)

    @pytest.mark.parametrize("page", ["0", "11", "x", "-1", "1e1", "%00", "1.0"])
    def test_has_ten_pages(self, desk, db, page):
        assert desk.get(f"{LIST}?page={page}").status_code == 404

    def test_goes_on_after_fifty(self, desk, short):
        rows = [
            InRecord(
                file=short.file,
                rail=short.rail,
                line=1000 + number,
                kind="other",
                status="new",
                received_at=NOW,
            )
            for number in range(51)
        ]
        InRecord.objects.bulk_create(rows)
        InRecord.objects.filter(line__gte=1000).update(status="review", due_on=date(2026, 12, 1))

        first, second = shown(desk), shown(desk, f"{LIST}?page=2")

        assert (first.count("/exceptions/records/"), second.count("/exceptions/records/")) == (
            50,
            2,
        )
        assert "page=2" in first
        assert "page=3" not in second

    def test_names_originators_whose_debits_are_stopped(self, desk, kim, batch):
        row = Originator.objects.get()
        Originator.objects.update(debits_stopped_at=NOW, debits_stopped_why="3 of 200 came back")
        path = f"/admin/desk/rails/{row.rail_id}/originators/{row.pk}/debits/"
        assert path in shown(desk)

        desk.post(path, {"reason": REASON})
        approve(kim)

        row.refresh_from_db()
        assert (row.debits_stopped_at, row.debits_released_at is None) == (None, False)
        assert AuditEvent.objects.get(action="originator.debits_went_on").staff_note == REASON

    def test_counts_what_is_open_and_overdue(self, short, late):
        assert lines.counted(now=NOW) == (2, 0)
        assert lines.counted(now=NOW + timedelta(days=30)) == (2, 2)

    def test_names_debits_whose_returns_could_not_be_read(self, desk, batch):
        make_entry(batch, 3, final_due_at=NOW - timedelta(minutes=14))
        assert "are not final" not in shown(desk, LIST)

        make_entry(batch, 4, final_due_at=NOW - timedelta(minutes=16))
        content = shown(desk, LIST)
        assert "Debits of firstbank are not final" in content
        assert "1 wait until what the bank has for us is fetched and read" in content

    def test_is_announced_on_the_home_page(self, desk, short, late):
        (soon,) = of_ach(now=NOW)
        (over,) = of_ach(now=NOW + timedelta(days=30))

        assert (soon.tone, soon.text) == ("warn", "Exceptions to decide: 2.")
        assert (over.tone, over.text) == ("bad", "Exceptions to decide: 2, 2 of them overdue.")
        assert f'href="{LIST}"' in shown(desk, "/admin/")

    def test_needs_nobody_if_nothing_waits(self, db, django_assert_num_queries):
        with django_assert_num_queries(4):
            assert list(of_ach(now=NOW)) == []


class TestRecord:
    def test_shows_what_came_and_what_fits(self, desk, entry, short):
        content = shown(desk, address(short))

        for text in ("$149.99", "$150.00", entry.reference, "Match to an entry", "Dishonor"):
            assert text in content
        assert ACCOUNT not in content
        assert ACCOUNT.replace("-", "") not in content

    def test_of_money_that_nobody_asked_for_names_its_sender(self, desk, batch):
        sent = raw.entry(
            code="22", rdfi="09100001", check="9", amount=25_00, trace="090000510000003"
        )
        sender = {"company": "ACME REBATES", "company_id": "9876543210"}
        file = take(answer_file(answer_batch(sent, service_class="220", **sender)))

        page = shown(desk, address(InRecord.objects.get(file=file)))

        assert "From</dt>" in page
        assert "ACME REBATES, 9876543210" in page
        assert "From ACME REBATES, 9876543210" in shown(desk)

    @pytest.mark.parametrize("number", ["0", "999", str(2**63), "9" * 40])
    @pytest.mark.parametrize("part", ["", "resolve/"])
    def test_that_is_not_there(self, desk, db, number, part):
        assert desk.get(f"{LIST}records/{number}/{part}").status_code == 404

    def test_has_no_other_actions(self, desk, short):
        assert desk.get(address(short, "explode/")).status_code == 404

    def test_is_matched_to_an_entry(self, desk, sam, entry, short):
        decide(desk, short, "match", entry=entry.trace_number)

        entry.refresh_from_db()
        assert (short.status, short.entry_id, short.decided_by) == ("applied", entry.pk, sam.pk)
        assert entry.status == "returned"
        event = audited().get()
        assert (event.action, event.staff_note) == ("ach_record.match", REASON)
        assert event.details["instructionId"] == entry.instruction_id

    @pytest.mark.parametrize("typed", ["", "9" * 15, "<script>alert(1)</script>", "ftx_x", "\0"])
    def test_is_not_matched_to_nothing(self, desk, short, typed):
        content = decide(desk, short, "match", entry=typed)

        assert short.status == "review"
        assert "<script>alert(1)" not in content
        assert not audited().exists()

    def test_is_resolved(self, desk, short):
        decide(desk, short, "resolve")

        assert (short.status, short.decided_why) == ("resolved", REASON)

    @pytest.mark.parametrize("what", ["match", "dishonor", "resolve", "refuse", "apply"])
    def test_is_not_decided_without_a_reason(self, desk, entry, short, what):
        decide(desk, short, what, entry=entry.trace_number, code="R61", reason="")

        assert short.status == "review"

    def test_is_decided_once(self, desk, short):
        decide(desk, short, "resolve")

        content = decide(desk, short, "resolve")

        assert "The record does not wait for a decision." in content
        assert audited().count() == 1


class TestReturnThatCounted:
    def test_can_be_dishonored_once(self, desk, entry):
        record = record_of(returned(entry, "R06"))
        assert record.status == "applied"

        decide(desk, record, "dishonor", code="R70")

        assert AchReply.objects.get().code == "R70"
        content = shown(desk, f"{LIST}records/{record.pk}/")
        assert "/dishonor/" not in content


class TestLateReturn:
    def test_is_dishonored(self, desk, late):
        decide(desk, late, "dishonor", code="R68")

        reply = AchReply.objects.get()
        assert (reply.code, reply.status, late.may_dishonor) == ("R68", "waiting", False)
        assert audited().get().details["code"] == "R68"

    def test_can_be_answered_again_after_a_reply_was_taken_back(self, desk, late):
        decide(desk, late, "dishonor", code="R68")
        path = f"{LIST}replies/{AchReply.objects.get().pk}/"
        assert path in shown(desk, address(late))

        desk.post(path, {"reason": ""})
        assert AchReply.objects.get().status == "waiting"
        desk.post(path, {"reason": REASON})

        assert AchReply.objects.get().status == "withdrawn"
        assert AuditEvent.objects.get(action="ach_reply.withdrawn").staff_note == REASON
        assert (
            "The reply is in a file already."
            in desk.post(path, {"reason": REASON}).content.decode()
        )

    def test_may_stand(self, desk, late):
        decide(desk, late, "let-stand")

        assert (late.may_dishonor, late.status) == (False, "applied")
        assert not AchReply.objects.exists()

    @pytest.mark.parametrize("code", ["", "R01", "R67", "R99"])
    def test_needs_a_code_that_fits(self, desk, late, code):
        decide(desk, late, "dishonor", code=code)

        assert not AchReply.objects.exists()
        assert not audited().exists()

    def test_offers_what_can_be_done(self, desk, late):
        content = shown(desk, address(late))

        assert "Let it stand" in content
        assert "Match to an entry" not in content


class TestFile:
    @pytest.fixture
    def aside(self, batch):
        file = take(["nothing of a file"])
        assert file.status == "review"
        return file

    def test_shows_its_faults(self, desk, aside):
        content = shown(desk, f"{LIST}files/{aside.pk}/")

        assert aside.faults[0]["code"] in content
        assert "Read again" in content

    @pytest.mark.parametrize(
        ("what", "status"), [("read-again", "stored"), ("resolve", "resolved")]
    )
    def test_is_decided_about(self, desk, sam, aside, what, status):
        desk.post(f"{LIST}files/{aside.pk}/{what}/", {"reason": REASON, "excuse": "on"})

        aside.refresh_from_db()
        assert (aside.status, aside.resolved_by, aside.resolution) == (status, sam.pk, REASON)
        event = AuditEvent.objects.get(action__startswith="ach_file.")
        assert event.details.get("excused") == ("yes" if what == "read-again" else None)

    @pytest.mark.parametrize("file_id", ["ifl_x", "%00", "'"])
    def test_that_is_not_there(self, desk, db, file_id):
        assert desk.get(f"{LIST}files/{file_id}/").status_code == 404


class TestPermissions:
    def test_who_looks_decides_nothing(self, staff_with, short):
        browser = staff_with("ach.view_inrecord")

        assert browser.get(LIST).status_code == 200
        assert "Resolve" not in shown(browser, address(short))
        for what in ("match", "dishonor", "let-stand", "apply", "refuse", "resolve"):
            assert browser.get(address(short, f"{what}/")).status_code == 403
            decide(browser, short, what)
        assert short.status == "review"

    def test_who_decides_may(self, staff_with, short):
        browser = staff_with("ach.view_inrecord", "ach.change_inrecord")

        decide(browser, short, "resolve")

        assert short.status == "resolved"

    def test_who_looks_takes_no_reply_back(self, desk, staff_with, late):
        decide(desk, late, "dishonor", code="R68")
        browser = staff_with("ach.view_inrecord")

        path = f"{LIST}replies/{AchReply.objects.get().pk}/"
        assert browser.post(path, {"reason": REASON}).status_code == 403

    def test_others_see_nothing(self, staff_with, short):
        browser = staff_with("ach.view_outfile", "ach.hold_outfile")

        for path in (LIST, address(short), f"{LIST}files/{short.file_id}/"):
            assert browser.get(path).status_code == 403
