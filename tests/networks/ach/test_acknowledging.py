"""What the bank's answer makes of a file, its batches and its entries, and what is told of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import DatabaseError

from networks.ach import acknowledging, building, figures, freezing, releasing, telling
from networks.ach.acknowledging import acknowledged
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchBatch, AchEntry, AchEvent, InFile, OutFile
from networks.ach.sending import send_next
from networks.ach.sftp.errors import ConnectionLost
from networks.base import EVENT_CODE_LENGTH, Method, Purpose, Speed
from tests.networks.ach.builders import (
    BANK,
    FREEZE,
    NOON,
    RAIL,
    heard,
    instruction,
    make_files,
    make_originator,
    make_rail,
    take,
    the_file,
)
from tests.networks.ach.folder import Folder

pytestmark = pytest.mark.django_db(transaction=True)

LATER = FREEZE + timedelta(minutes=10)
WEDNESDAY, FRIDAY = date(2026, 11, 25), date(2026, 11, 27)  # Thursday is Thanksgiving
WEDNESDAY_830 = datetime(2026, 11, 25, 13, 30, tzinfo=UTC)
MONDAY_900 = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(dual_release=False)
    make_originator()


@pytest.fixture
def send(tmp_path):
    def send(*, now=FREEZE):
        return send_next(RAIL, Folder(tmp_path), now=now)

    return send


def answer(file, verdict=Verdict.ACCEPTED, *, batches=(), entries=(), now=LATER, code=""):
    return acknowledged(
        file.pk,
        verdict=verdict,
        rejected_batches=dict(batches),
        rejected_entries=dict(entries),
        now=now,
        code=code,
    )


def told(now):
    return [(event.kind, event.settlement_date) for event in BANK.poll(now=now, limit=99)]


def statuses():
    return sorted(AchEntry.objects.values_list("status", flat=True))


class TestAccepted:
    def test_a_debit_settles_and_two_banking_days_later_is_final(self, send):
        (file,) = make_files(1)
        send()
        assert answer(file)

        entry = AchEntry.objects.get()
        assert (entry.status, entry.settlement_date, entry.final_due_at) == (
            "accepted",
            WEDNESDAY,
            MONDAY_900,
        )
        assert told(LATER) == [("accepted", WEDNESDAY)]
        assert BANK.poll(now=LATER, limit=1)[0].trace_number == entry.trace_number
        assert told(WEDNESDAY_830) == [("accepted", WEDNESDAY), ("settled", WEDNESDAY)]
        assert len(told(MONDAY_900 - timedelta(seconds=1))) == 2
        assert [kind for kind, _ in told(MONDAY_900)] == ["accepted", "settled", "final"]

    def test_a_credit_is_final_when_it_settles(self, send):
        (file,) = make_files(1, method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT)
        send()
        answer(file)

        assert [kind for kind, _ in told(WEDNESDAY_830)] == ["accepted", "settled", "final"]

    def test_an_entry_of_the_same_day_settles_in_the_evening(self, send):
        (file,) = make_files(1, speed=Speed.SAME_DAY)
        send()
        answer(file)
        evening = datetime(2026, 11, 24, 23, 0, tzinfo=UTC)

        assert len(told(evening - timedelta(seconds=1))) == 1
        assert told(evening)[1] == ("settled", date(2026, 11, 24))

    def test_the_file_and_its_batches_say_so(self, send):
        (file,) = make_files(2)
        send()
        answer(file)

        file.refresh_from_db()
        assert (file.status, file.acknowledged_at) == ("acknowledged", LATER)
        assert AchBatch.objects.get().status == "accepted"

    def test_an_answer_that_comes_twice_changes_nothing(self, send):
        (file,) = make_files(2)
        send()
        answer(file)

        assert not answer(file)
        assert not answer(file, Verdict.REJECTED)
        assert AchEvent.objects.count() == 6

    def test_entries_are_final_in_their_time(self, send):
        (file,) = make_files(2)
        send()
        answer(file)

        assert acknowledging.finish_final(now=MONDAY_900 - timedelta(seconds=1)) == 0
        assert acknowledging.finish_final(now=MONDAY_900) == 2
        assert statuses() == ["final", "final"]

    @pytest.mark.parametrize(
        ("fetched", "is_final"), [(None, False), (-31, False), (-30, True), (5, True)]
    )
    def test_a_debit_waits_until_the_files_of_the_morning_were_fetched(
        self, send, fetched, is_final
    ):
        (file,) = make_files(1)
        send()
        answer(file)
        at = None if fetched is None else MONDAY_900 + timedelta(minutes=fetched)
        heard(RAIL, at)

        later = MONDAY_900 + timedelta(hours=1)
        assert (("final", WEDNESDAY) in told(later)) is is_final
        assert acknowledging.finish_final(now=later) == is_final
        assert figures.on_the_way(now=later).not_final == ({} if is_final else {RAIL: 1})

    @pytest.mark.parametrize(
        ("status", "is_final"),
        [("stored", False), ("parsed", False), ("review", False), ("resolved", True)],
    )
    def test_a_debit_waits_until_a_file_that_came_before_is_read(self, send, status, is_final):
        (file,) = make_files(1)
        send()
        answer(file)
        is_due = status in {"stored", "parsed"}
        InFile.objects.create(
            rail_id=RAIL,
            folder="inbound",
            name="returns",
            size=1,
            sha256="1",
            chunk_count=0,
            status=status,
            received_at=MONDAY_900 - timedelta(minutes=31),
            next_attempt_at=MONDAY_900 if is_due else None,
            resolved_at=None if status != "resolved" else MONDAY_900,
            resolution="" if status != "resolved" else "Nothing for us",
        )

        assert (("final", WEDNESDAY) in told(MONDAY_900)) is is_final
        assert acknowledging.finish_final(now=MONDAY_900) == is_final

    def test_a_credit_waits_for_no_returns(self, send):
        (file,) = make_files(1, method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT)
        send()
        answer(file)
        heard(RAIL, None)

        assert ("final", WEDNESDAY) in told(WEDNESDAY_830)
        assert acknowledging.finish_final(now=WEDNESDAY_830) == 1

    def test_the_answer_proves_that_a_file_was_sent(self, send, tmp_path):
        (file,) = make_files(1)

        def lost(step):
            if step == "renamed":
                raise ConnectionLost

        send_next(RAIL, Folder(tmp_path, lost), now=FREEZE)
        assert the_file().status == "released"
        assert answer(file)
        assert the_file().status == "acknowledged"

    def test_an_answer_about_a_file_that_was_not_sent_changes_nothing(self):
        (file,) = make_files(1)

        assert not answer(file)
        assert (the_file().status, statuses()) == ("released", ["frozen"])

    def test_settles_when_the_bank_says(self, send):
        make_files(1)
        send()

        acknowledged(
            the_file().pk,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            settles={1: FRIDAY},
            now=LATER,
        )

        assert AchBatch.objects.get().settlement_date == FRIDAY
        assert set(AchEvent.objects.values_list("settlement_date", flat=True)) == {FRIDAY}


class TestRejected:
    def test_a_file_is_tried_again_with_new_traces(self, send):
        (file,) = make_files(2)
        traces = set(AchEntry.objects.values_list("trace_number", flat=True))
        receipts = {row.instruction_id: row.reference for row in AchEntry.objects.all()}
        send()
        assert answer(file, Verdict.REJECTED, code="duplicate")

        file.refresh_from_db()
        assert (file.status, AchBatch.objects.get().code) == ("rejected", "duplicate")
        assert statuses() == ["requeued", "requeued", "waiting", "waiting"]
        assert told(MONDAY_900) == []
        freezing.freeze_due(RAIL, now=FREEZE + timedelta(hours=5, minutes=45))
        live = AchEntry.objects.filter(status="frozen")
        assert not traces & set(live.values_list("trace_number", flat=True))
        assert {row.instruction_id: row.reference for row in live} == receipts
        found = {row.instruction_id: BANK.find(row.instruction_id) for row in live}
        assert {id_: receipt and receipt.reference for id_, receipt in found.items()} == receipts
        assert {row.account_number for row in live} == {"1000200"}

    def test_a_batch_takes_only_its_own_entries_with_it(self, send):
        take(instruction(id="in"), instruction(id="out", method=Method.ACH_CREDIT))
        (file,) = make_files(0)
        send()
        bad = AchBatch.objects.get(service_class=220)
        answer(file, batches={bad.batch_number: "R13"})

        file.refresh_from_db()
        found = set(AchEntry.objects.values_list("instruction_id", "status"))
        assert file.status == "part_rejected"
        assert found == {("in", "accepted"), ("out", "requeued"), ("out", "waiting")}

    def test_the_debit_of_a_test_goes_again_without_its_credits(self, send):
        test = {"purpose": Purpose.VERIFICATION}
        take(
            instruction(amount=3, method=Method.ACH_CREDIT, **test),
            instruction(amount=4, method=Method.ACH_CREDIT, **test),
            instruction(amount=7, **test),
        )
        (file,) = make_files(0)
        send()
        bad = AchBatch.objects.get(service_class=225)
        answer(file, batches={bad.batch_number: "R13"})

        (again,) = make_files(1, now=FREEZE + timedelta(days=1))

        assert (again.faults, again.status, again.entry_count) == ([], "released", 2)

    def test_the_debit_of_a_test_waits_if_a_credit_comes_back_before_its_file_is_built(self, send):
        test = {"purpose": Purpose.VERIFICATION}
        three, *_ = take(
            instruction(amount=3, method=Method.ACH_CREDIT, **test),
            instruction(amount=4, method=Method.ACH_CREDIT, **test),
            instruction(amount=7, **test),
        )
        (file,) = make_files(0)
        send()
        answer(file, batches={AchBatch.objects.get(service_class=225).batch_number: "R13"})
        (other,) = take(instruction(), now=LATER)
        tomorrow = FREEZE + timedelta(days=1)
        (frozen,) = freezing.freeze_due(RAIL, now=tomorrow)
        telling.ended(
            {three.pk: "R03"},
            status="returned",
            kind="returned",
            sources=["accepted"],
            now=tomorrow,
        )

        assert building.build(frozen, now=tomorrow)
        (again,) = make_files(0, now=tomorrow)

        assert OutFile.objects.get(pk=frozen).status == "withdrawn"
        assert (again.status, again.faults, again.entry_count) == ("released", [], 1)
        other.refresh_from_db()
        assert other.batch is not None
        assert other.batch.file == again
        debit = AchEntry.objects.get(is_debit=True, purpose="verification", status="waiting")
        assert debit.waits_for == "test_not_covered"

    def test_an_entry_ends_with_its_code(self, send):
        (file,) = make_files(3)
        send()
        bad = AchEntry.objects.earliest("pk")
        answer(file, entries={bad.trace_number: "R13"})

        bad.refresh_from_db()
        assert (bad.status, bad.code, the_file().status) == ("rejected", "R13", "part_rejected")
        events = BANK.poll(now=MONDAY_900, limit=99)
        mine = [event for event in events if event.instruction_id == bad.instruction_id]
        assert [(event.kind, event.code) for event in mine] == [("rejected", "R13")]
        assert len(events) == 1 + 2 * 3

    def test_a_banks_own_word_is_told_as_far_as_it_is_kept(self, send):
        (file,) = make_files(1)
        send()
        bad = AchEntry.objects.get()
        word = "account_number_of_no_account"
        answer(file, entries={bad.trace_number: word})

        bad.refresh_from_db()
        (event,) = BANK.poll(now=MONDAY_900, limit=99)
        assert (bad.code, event.code) == (word, word[:EVENT_CODE_LENGTH])

    def test_twice_keeps_the_first_name_of_an_instruction(self, send):
        (file,) = make_files(1)
        receipt = BANK.find(AchEntry.objects.get().instruction_id)
        send()
        answer(file, Verdict.REJECTED)
        evening = FREEZE + timedelta(hours=5, minutes=45)
        (again,) = make_files(0, now=evening)
        send(now=evening)
        answer(again, Verdict.REJECTED, now=evening)

        assert statuses() == ["requeued", "requeued", "waiting"]
        assert BANK.find(AchEntry.objects.earliest("pk").instruction_id) == receipt


class TestTwoAnswers:
    """Of one that a killed worker has begun to apply, and of another one."""

    @pytest.fixture
    def begun(self, send):
        take(instruction(id="in"), instruction(id="out", method=Method.ACH_CREDIT))
        (file,) = make_files(0)
        send()
        said = acknowledging.digest(
            verdict=Verdict.PART_REJECTED, rejected_batches={1: "R13"}, rejected_entries={}
        )
        OutFile.objects.update(answered_how="file", answer_digest=said)
        return file

    def test_the_same_is_applied_to_its_end(self, begun):
        assert answer(begun, Verdict.PART_REJECTED, batches={1: "R13"})
        assert the_file().status == "part_rejected"

    @pytest.mark.parametrize(
        ("verdict", "other"),
        [
            (Verdict.ACCEPTED, {}),
            (Verdict.REJECTED, {"code": "R13"}),
            (Verdict.PART_REJECTED, {"batches": {2: "R13"}}),
            (Verdict.PART_REJECTED, {"batches": {1: "R13"}, "entries": {"1" * 15: "R13"}}),
        ],
    )
    def test_another_one_changes_nothing(self, begun, verdict, other):
        assert not answer(begun, verdict, **other)
        assert set(AchBatch.objects.values_list("status", flat=True)) == {"frozen"}

    def test_nor_does_silence(self, begun):
        make_rail(dual_release=False, ack_format="none")
        assert acknowledging.accept_unanswered(RAIL, now=FREEZE + timedelta(days=9)) == []

    def test_what_is_being_applied_is_never_exchanged(self, begun):
        with pytest.raises(DatabaseError, match="Cannot update"):
            OutFile.objects.update(answer_digest="0" * 64)


class TestSilence:
    def test_accepts_where_the_bank_acknowledges_nothing(self, send):
        make_rail(dual_release=False, ack_format="none", accept_after=timedelta(hours=1))
        make_files(1)
        send()
        hour = FREEZE + timedelta(hours=1)

        assert acknowledging.accept_unanswered(RAIL, now=hour - timedelta(seconds=1)) == []
        assert len(acknowledging.accept_unanswered(RAIL, now=hour)) == 1
        assert statuses() == ["accepted"]

    def test_accepts_nothing_elsewhere(self, send):
        make_files(1)
        send()

        assert acknowledging.accept_unanswered(RAIL, now=FREEZE + timedelta(hours=3)) == []
        assert the_file().status == "sent"


def test_a_late_file_settles_later(send, tmp_path):
    (file,) = make_files(1)
    OutFile.objects.update(temporary_name=".x.part")
    send(now=FREEZE + timedelta(days=1))
    answer(file, now=FREEZE + timedelta(days=1))

    assert AchBatch.objects.get().settlement_date == FRIDAY


def test_what_was_taken_apart_is_not_answered():
    (file,) = make_files(1)
    releasing.take_apart(file.pk, by="ada@ballast.example", why="x", now=NOON)

    assert not answer(file)
