"""A rail that asks about each account before its first entry that moves money."""

from __future__ import annotations

from datetime import date, timedelta
from io import BytesIO

import pytest

from networks import calendar
from networks.ach import acknowledging, building, freezing, prenotes, releasing
from networks.ach.acknowledging import acknowledged
from networks.ach.acknowledgments import Verdict
from networks.ach.models import AchEntry, AchEvent, OutFile
from networks.ach.nacha.items import Item
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import EntryDetail
from networks.ach.sealing import opened
from networks.ach.sending import send_next
from networks.base import AccountType, Method, Purpose, Speed, Withdrawal
from tests.networks.ach.builders import (
    BANK,
    FREEZE,
    NOON,
    RAIL,
    account,
    instruction,
    make_originator,
    make_rail,
    take,
    take_some,
)
from tests.networks.ach.folder import Folder

pytestmark = pytest.mark.django_db(transaction=True)

# The prenote of Tuesday, November 24, settles on Wednesday. Thursday is Thanksgiving: the third
# banking day after it is Tuesday, December 1.
WEDNESDAY, THIRD = date(2026, 11, 25), date(2026, 12, 1)
FRIDAY_FREEZE = FREEZE + timedelta(days=3)
MONDAY_FREEZE = FREEZE + timedelta(days=6)


@pytest.fixture(autouse=True)
def _bank():
    make_rail(dual_release=False, prenotes=True)
    make_originator()


@pytest.fixture
def send(tmp_path):
    def send(now=FREEZE, *, rejected=()):
        """Freeze, build, send, and have all of it acknowledged."""
        for file_id in freezing.freeze_due(RAIL, now=now):
            assert building.build(file_id, now=now)
        folder = Folder(tmp_path)
        while sent := send_next(RAIL, folder, now=now):
            acknowledged(
                sent,
                verdict=Verdict.ACCEPTED,
                rejected_batches={},
                rejected_entries=dict(rejected),
                now=now + timedelta(minutes=10),
            )

    return send


def prenote() -> AchEntry:
    return AchEntry.objects.get(purpose="prenote")


def told() -> list[tuple[str, str]]:
    events = BANK.poll(now=MONDAY_FREEZE, limit=100)
    return [(event.kind.value, event.code) for event in events]


def details(file: OutFile) -> list[EntryDetail]:
    items = read(BytesIO(b"".join(opened(file.pk))))
    return [
        item.record
        for item in items
        if isinstance(item, Item) and isinstance(item.record, EntryDetail)
    ]


class TestAsking:
    @pytest.mark.parametrize(
        ("method", "kind", "code"),
        [
            (Method.ACH_DEBIT, AccountType.CHECKING, 28),
            (Method.ACH_DEBIT, AccountType.SAVINGS, 38),
            (Method.ACH_CREDIT, AccountType.CHECKING, 23),
            (Method.ACH_CREDIT, AccountType.SAVINGS, 33),
        ],
    )
    def test_sends_an_entry_without_amount_and_keeps_the_first_one_back(
        self, send, method, kind, code
    ):
        purpose = Purpose.TOPUP if method == Method.ACH_DEBIT else Purpose.PAYMENT
        (live,) = take(
            instruction(method=method, purpose=purpose, account=account(account_type=kind))
        )

        send()

        (detail,) = details(OutFile.objects.get())
        assert (detail.transaction_code, detail.amount) == (code, 0)
        assert detail.dfi_account_number == live.account_number
        assert prenote().original == live
        live.refresh_from_db()
        assert (live.status, live.waits_for) == ("waiting", "prenote")

    def test_asks_once_about_an_account_that_several_entries_name(self, send):
        take_some(3)
        send()
        take_some(2, now=FREEZE + timedelta(hours=1))
        send(FRIDAY_FREEZE)

        assert AchEntry.objects.filter(purpose="prenote").count() == 1
        assert AchEntry.objects.filter(status="waiting", waits_for="prenote").count() == 5

    def test_asks_about_each_account(self, send):
        take(*(instruction(account=account(number)) for number in ("1000200", "1000300")))
        take(instruction(account=account(routing_number="021000021")))

        send()

        asked = AchEntry.objects.filter(purpose="prenote", status="accepted")
        assert {(row.routing_number, row.account_number) for row in asked} == {
            ("011000015", "1000200"),
            ("011000015", "1000300"),
            ("021000021", "1000200"),
        }

    def test_an_account_that_does_not_open_keeps_no_other_one_back(self, send):
        bad, good = take(
            instruction(account=account("1000200")), instruction(account=account("1000300"))
        )
        AchEntry.objects.filter(pk=bad.pk).update(account_token="damaged")

        send()

        assert prenote().original == good
        bad.refresh_from_db()
        assert (bad.status, bad.waits_for) == ("waiting", "prenote")

    def test_asks_again_after_somebody_took_it_out(self, send):
        take_some(1)
        freezing.freeze_due(RAIL, now=FREEZE)
        releasing.take_out(prenote().instruction_id, by="ada", why="A try", now=FREEZE)

        send(FREEZE + timedelta(seconds=1))

        statuses = AchEntry.objects.filter(purpose="prenote").order_by("id")
        assert list(statuses.values_list("status", flat=True)) == ["withdrawn", "accepted"]

    def test_is_told_to_nobody(self, send):
        take_some(1)
        send()
        acknowledging.finish_final(now=MONDAY_FREEZE)

        assert {kind for kind, _ in told()} == {"rescheduled"}
        assert not AchEvent.objects.filter(entry=prenote()).exists()

    def test_balances_no_day_that_moves_nothing(self, send):
        make_rail(
            dual_release=False,
            prenotes=True,
            offset="balanced",
            offset_routing="011000015",
            offset_account="99887766",
        )
        take_some(1)

        send()

        assert [batch.is_offset for batch in OutFile.objects.get().batches.all()] == [False]

    def test_is_not_asked_of_a_rail_without_prenotes(self, send):
        make_rail(dual_release=False)
        (live,) = take_some(1)

        send()

        live.refresh_from_db()
        assert live.status == "accepted"
        assert not AchEntry.objects.filter(purpose="prenote").exists()


class TestAnswers:
    def test_the_first_entry_settles_on_the_third_banking_day(self, send):
        (live,) = take_some(1)
        send()
        assert prenote().settlement_date == WEDNESDAY
        acknowledging.finish_final(now=FRIDAY_FREEZE)
        send(FRIDAY_FREEZE)
        live.refresh_from_db()
        assert live.status == "waiting"

        acknowledging.finish_final(now=MONDAY_FREEZE)
        send(MONDAY_FREEZE)

        live.refresh_from_db()
        assert (live.status, live.settlement_date) == ("accepted", THIRD)

    def test_a_prenote_may_come_back_until_the_second_banking_day(self, send):
        """A credit, whose money would be final at its settlement."""
        take(instruction(method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT))
        send()

        due = prenote().final_due_at
        assert due == calendar.opening_of_business(date(2026, 11, 30)) + timedelta(minutes=30)

    def test_the_promise_of_the_first_entry_is_told_anew_once(self, send):
        (live,) = take_some(1)
        send()
        send(FRIDAY_FREEZE)
        acknowledging.finish_final(now=MONDAY_FREEZE)
        send(MONDAY_FREEZE)

        later = AchEvent.objects.filter(kind="rescheduled", entry=live)
        assert [event.settlement_date for event in later] == [THIRD]

    def test_a_same_day_entry_waits_as_long(self, send):
        (live,) = take_some(1, speed=Speed.SAME_DAY)
        send()
        acknowledging.finish_final(now=MONDAY_FREEZE)
        send(MONDAY_FREEZE)
        live.refresh_from_db()
        assert live.status == "waiting"

        send(MONDAY_FREEZE + timedelta(days=1))

        live.refresh_from_db()
        assert (live.status, live.settlement_date) == ("accepted", THIRD)

    def test_the_next_entry_of_a_known_account_waits_for_nothing(self, send):
        take_some(1)
        send()
        acknowledging.finish_final(now=MONDAY_FREEZE)
        send(MONDAY_FREEZE)
        (next_one,) = take_some(1, now=MONDAY_FREEZE + timedelta(hours=1))

        send(MONDAY_FREEZE + timedelta(days=1))

        next_one.refresh_from_db()
        assert next_one.status == "accepted"

    def test_a_test_of_the_account_answers_as_well(self, send):
        take(
            instruction(
                id="ver_1.1",
                method=Method.ACH_CREDIT,
                purpose=Purpose.VERIFICATION,
                amount=7,
            )
        )
        send()
        (live,) = take_some(1, now=NOON + timedelta(hours=3))
        acknowledging.finish_final(now=MONDAY_FREEZE)

        send(MONDAY_FREEZE)

        live.refresh_from_db()
        assert live.status == "accepted"
        assert not AchEntry.objects.filter(purpose="prenote").exists()

    def test_what_the_bank_rejects_ends_the_entries_that_wait(self, send):
        (live,) = take_some(1)
        freezing.freeze_due(RAIL, now=FREEZE)
        building.build(OutFile.objects.get().pk, now=FREEZE)
        send(rejected={prenote().trace_number: "R13"})

        assert prenotes.end_refused(RAIL, now=FREEZE + timedelta(hours=1)) == 1

        live.refresh_from_db()
        assert (live.status, live.code) == ("withdrawn", "R13")
        assert ("rejected", "R13") in told()

    def test_a_refusal_ends_entries_of_its_tenant_only(self, send):
        """The other one may have typed another name, or another kind of account."""
        (typo,) = take(instruction(account=account(account_type=AccountType.SAVINGS)))
        (right,) = take(instruction(tenant_id="ten_other"))
        freezing.freeze_due(RAIL, now=FREEZE)
        building.build(OutFile.objects.get().pk, now=FREEZE)
        refused, kept = AchEntry.objects.filter(purpose="prenote").order_by("pk")
        assert (refused.original, kept.original) == (typo, right)
        send(rejected={refused.trace_number: "R20"})

        assert prenotes.end_refused(RAIL, now=FREEZE + timedelta(hours=1)) == 1

        right.refresh_from_db()
        assert (right.status, right.waits_for) == ("waiting", "prenote")

    def test_an_answer_to_one_tenant_tells_another_one_nothing(self, send):
        take_some(1)
        send()
        (other,) = take(instruction(tenant_id="ten_other"), now=FREEZE + timedelta(hours=1))
        acknowledging.finish_final(now=MONDAY_FREEZE)

        send(MONDAY_FREEZE)

        other.refresh_from_db()
        assert (other.status, other.waits_for) == ("waiting", "prenote")

    def test_an_account_may_be_tried_again_after_a_refusal(self, send):
        take_some(1)
        freezing.freeze_due(RAIL, now=FREEZE)
        building.build(OutFile.objects.get().pk, now=FREEZE)
        send(rejected={prenote().trace_number: "R13"})
        prenotes.end_refused(RAIL, now=FREEZE + timedelta(hours=1))
        (again,) = take_some(1, now=FREEZE + timedelta(hours=2))

        send(FRIDAY_FREEZE)

        again.refresh_from_db()
        assert (again.status, again.waits_for) == ("waiting", "prenote")
        assert prenotes.end_refused(RAIL, now=FRIDAY_FREEZE) == 0
        assert AchEntry.objects.filter(purpose="prenote", status="accepted").count() == 1

    def test_a_rejected_file_asks_again_by_itself(self, tmp_path, send):
        (live,) = take_some(1)
        for file_id in freezing.freeze_due(RAIL, now=FREEZE):
            building.build(file_id, now=FREEZE)
        sent = send_next(RAIL, Folder(tmp_path), now=FREEZE)
        assert sent
        acknowledged(
            sent,
            verdict=Verdict.REJECTED,
            rejected_batches={},
            rejected_entries={},
            now=FREEZE + timedelta(minutes=5),
        )
        assert prenotes.end_refused(RAIL, now=FREEZE + timedelta(hours=1)) == 0

        send(FRIDAY_FREEZE)

        live.refresh_from_db()
        assert live.status == "waiting"
        asked = AchEntry.objects.filter(purpose="prenote").order_by("id")
        assert list(asked.values_list("status", flat=True)) == ["requeued", "accepted"]


def test_an_entry_that_waits_for_an_answer_can_be_withdrawn(send):
    (live,) = take_some(1)
    send()

    assert BANK.withdraw(live.instruction_id, now=FREEZE) == Withdrawal.WITHDRAWN

    live.refresh_from_db()
    assert (live.status, live.waits_for) == ("withdrawn", "")
