"""From a cut-off to a built file: what goes, what waits, and what the file says."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from io import BytesIO

import pytest
from django.db import connection

from common import database_clock
from common.clock import utc_now
from networks.ach import building, freezing, releasing
from networks.ach.models import AchBatch, AchEntry, Originator, OutFile, RailSwitch, TraceCounter
from networks.ach.nacha.items import Item
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import EntryDetail
from networks.ach.nacha.validator.judge import Validator
from networks.ach.sealing import opened
from networks.base import Method, Purpose, Speed
from tests.corruption import tamper
from tests.networks.ach.builders import (
    BANK,
    CUTOFF,
    FREEZE,
    NOON,
    RAIL,
    account,
    instruction,
    make_originator,
    make_rail,
    take,
    take_some,
    the_file,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bank():
    make_rail()
    make_originator()


def freeze(now=FREEZE):
    return freezing.freeze_due(RAIL, now=now)


def build(now=FREEZE):
    while building.build_next(RAIL, now=now):
        pass


def content(file):
    return b"".join(opened(file.pk))


def statuses():
    return sorted(AchEntry.objects.values_list("status", "waits_for"))


def credit(**columns):
    return instruction(method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT, **columns)


class TestCutoff:
    def test_takes_nothing_before_its_lead_and_nothing_at_its_end(self):
        take_some(1)

        assert freeze(FREEZE - timedelta(seconds=1)) == []
        assert freeze(CUTOFF) == []
        assert len(freeze(FREEZE)) == 1

    def test_leaves_what_came_after_the_lead_to_the_next_one(self):
        take_some(1, now=FREEZE)

        assert freeze(FREEZE + timedelta(minutes=1)) == []

    def test_makes_no_second_file_of_the_same_entries(self):
        take_some(3)

        assert len(freeze()) == 1
        assert freeze() == []
        assert OutFile.objects.count() == 1

    @pytest.mark.parametrize("part", ["building", "sending"])
    def test_obeys_the_switch_that_stops_building(self, part):
        take_some(1)
        RailSwitch.objects.create(rail_id=RAIL, part=part, reason="Test", engaged_at=NOON)

        assert bool(freeze()) == (part == "sending")

    @pytest.mark.parametrize(
        ("seconds", "is_made"), [(0, True), (1.5, True), (-3, False), (3, False)]
    )
    def test_makes_nothing_while_this_clock_and_the_databases_differ(
        self, settings, seconds, is_made
    ):
        take_some(1)
        settings.CLOCK_DRIFT_SECONDS_MAX = 5

        with database_clock.at(utc_now() + timedelta(seconds=seconds)):
            assert bool(freeze()) is is_made

    def test_of_a_closed_rail_does_nothing(self):
        take_some(1)
        make_rail(active=False)

        assert freeze() == []


class TestDates:
    def test_are_the_next_banking_day(self):
        take_some(1)
        freeze()

        entry, batch = AchEntry.objects.get(), AchBatch.objects.get()
        assert (entry.effective_date, batch.effective_date) == (date(2026, 11, 25),) * 2

    def test_are_today_only_if_asked_allowed_and_within_the_limit(self):
        take(
            instruction(id="fast", speed=Speed.SAME_DAY),
            instruction(id="large", speed=Speed.SAME_DAY, amount=100_000_001),
            instruction(id="slow"),
        )
        freeze()

        found = dict(AchEntry.objects.values_list("instruction_id", "effective_date"))
        assert found == {
            "fast": date(2026, 11, 24),
            "large": date(2026, 11, 25),
            "slow": date(2026, 11, 25),
        }
        assert AchBatch.objects.count() == 2

    def test_move_to_the_next_day_when_the_last_same_day_cutoff_is_missed(self):
        (row,) = take(instruction(speed=Speed.SAME_DAY))
        evening = CUTOFF + timedelta(hours=5, minutes=40)

        assert row.promised_on == date(2026, 11, 24)
        freeze(evening)

        row.refresh_from_db()
        assert (row.effective_date, row.promised_on) == (date(2026, 11, 25),) * 2


class TestBatches:
    def test_hold_one_originator_class_direction_and_description(self):
        make_originator(tenant_id="ten_own", company_name="OWN INC")
        take(
            *(instruction() for _ in range(2)),
            *(credit() for _ in range(3)),
            instruction(tenant_id="ten_own"),
            instruction(purpose=Purpose.VERIFICATION, amount=3, method=Method.ACH_CREDIT),
        )
        freeze()

        found = AchBatch.objects.order_by("batch_number").values_list(
            "company_name", "sec", "service_class", "description", "entry_count"
        )
        assert sorted(found) == [
            ("BALLAST", "CCD", 220, "ACCTVERIFY", 1),
            ("BALLAST", "CCD", 220, "PAYMENT", 3),
            ("BALLAST", "CCD", 225, "TOPUP", 2),
            ("OWN INC", "CCD", 225, "TOPUP", 1),
        ]

    def test_are_split_by_the_rails_ceilings(self):
        make_rail(entries_per_batch_max=2, entries_per_file_max=5)
        take_some(12)

        assert len(freeze()) == 3
        batches = AchBatch.objects.order_by("file__created_at", "id")
        assert sorted(batches.values_list("entry_count", flat=True)) == [1, 1, 2, 2, 2, 2, 2]
        modifiers = sorted(OutFile.objects.values_list("modifier", flat=True))
        assert modifiers == ["A", "B", "C"]

    def test_are_split_by_the_files_ceiling_in_cents(self):
        make_rail(file_max=2_500, entry_max=2_500)
        take(*(instruction(amount=1_000) for _ in range(5)))

        assert len(freeze()) == 3
        totals = sorted(OutFile.objects.values_list("debit_total", flat=True))
        assert totals == [1_000, 2_000, 2_000]

    def test_do_not_part_what_tests_an_account_where_a_file_is_full(self):
        make_rail(entries_per_file_max=4)
        test = {"purpose": Purpose.VERIFICATION, "account": account("777")}
        take_some(2)
        take(
            instruction(id="v1", amount=3, method=Method.ACH_CREDIT, **test),
            instruction(id="v2", amount=4, method=Method.ACH_CREDIT, **test),
            instruction(id="v3", amount=7, **test),
        )

        assert len(freeze()) == 2
        build()
        files = OutFile.objects.order_by("created_at", "modifier")
        assert [(file.status, file.entry_count) for file in files] == [("built", 2), ("built", 3)]

    def test_have_traces_that_ascend_and_are_used_once(self):
        take(*(each for _ in range(4) for each in (instruction(), credit())))
        freeze()
        take_some(2)
        freeze()

        traces = list(AchEntry.objects.values_list("trace_number", flat=True))
        assert len(set(traces)) == 10
        assert {trace[:8] for trace in traces} == {"09990000"}
        for batch in AchBatch.objects.all():
            mine = list(batch.entries.order_by("id").values_list("trace_number", flat=True))
            assert mine == sorted(mine)
            assert mine[0] == batch.first_trace
        assert TraceCounter.objects.get().next == 11

    def test_begin_the_circle_of_traces_anew_rather_than_cross_its_end(self):
        make_rail(entries_per_file_max=100)
        TraceCounter.objects.create(odfi="09990000", next=9_999_990)
        take_some(2)
        freeze()

        assert sorted(AchEntry.objects.values_list("trace_number", flat=True)) == [
            "099900000000001",
            "099900000000002",
        ]


class TestNames:
    @pytest.mark.parametrize("name", ["000", "0 0", "0" * 22 + "ABC"])
    def test_that_an_operator_takes_for_blank_hold_no_file(self, name):
        strange, plain = instruction(account=account(holder_name=name)), instruction()
        answers = BANK.submit_many([strange, plain], now=NOON)
        freeze()
        build()

        assert the_file().status == "built"
        assert getattr(answers[strange.id], "code", None) == "name_unreadable"


class TestLimits:
    def test_of_a_day_leave_the_rest_waiting_and_say_so(self):
        Originator.objects.update(daily_debit_max=3_000)
        take(*(instruction(amount=1_000) for _ in range(5)), credit(amount=9_000))
        freeze()

        assert statuses() == [("frozen", "")] * 4 + [("waiting", "daily_limit")] * 2
        assert freeze(FREEZE + timedelta(minutes=1)) == []

    def test_of_a_day_let_the_rest_go_on_the_next(self):
        Originator.objects.update(daily_debit_max=3_000)
        take(*(instruction(amount=1_000) for _ in range(5)))
        freeze()
        freeze(FREEZE + timedelta(days=1))

        assert statuses() == [("frozen", "")] * 5

    def test_one_that_is_too_large_alone_holds_up_no_other(self):
        Originator.objects.update(daily_debit_max=3_000)
        take(instruction(amount=5_000), instruction(amount=3_000))
        freeze()

        assert statuses() == [("frozen", ""), ("waiting", "daily_limit")]

    def test_of_exposure_count_what_is_on_its_way(self):
        Originator.objects.update(exposure_max=2_500)
        take(instruction(amount=1_000), credit(amount=1_000))
        freeze()
        take(instruction(amount=1_000))
        freeze(FREEZE + timedelta(minutes=1))

        assert statuses()[-1] == ("waiting", "exposure")
        AchEntry.objects.filter(status="frozen").update(status="sent")
        AchEntry.objects.filter(status="sent").update(status="returned")
        freeze(FREEZE + timedelta(minutes=2))
        assert statuses()[0] == ("frozen", "")

    def test_of_the_rail(self):
        make_rail(day_max=2_000)
        take(*(instruction(amount=1_000) for _ in range(3)))
        freeze()

        assert statuses() == [("frozen", "")] * 2 + [("waiting", "rail_limit")]

    def test_do_not_part_what_tests_an_account(self):
        Originator.objects.update(daily_debit_max=0, daily_credit_max=0, exposure_max=0)
        test = {"purpose": Purpose.VERIFICATION}
        take(
            instruction(amount=3, method=Method.ACH_CREDIT, **test),
            instruction(amount=4, method=Method.ACH_CREDIT, **test),
            instruction(amount=7, **test),
        )
        freeze()
        build()

        assert the_file().status == "built"
        assert AchBatch.objects.values("effective_date").distinct().count() == 1

    def test_leave_out_what_would_take_back_more_than_it_gave(self):
        test = {"purpose": Purpose.VERIFICATION}
        gone, *_ = take(
            instruction(amount=3, method=Method.ACH_CREDIT, **test),
            instruction(amount=4, method=Method.ACH_CREDIT, **test),
            instruction(amount=7, **test),
            instruction(),
        )
        BANK.withdraw(gone.instruction_id, now=NOON)
        freeze()
        build()

        assert the_file().status == "built"
        assert statuses() == [
            ("frozen", ""),
            ("frozen", ""),
            ("waiting", "test_not_covered"),
            ("withdrawn", ""),
        ]

    def test_that_were_lowered_hold_for_what_waits(self):
        take(instruction(amount=1_000), instruction(amount=1_001))
        make_rail(entry_max=1_000)
        freeze()

        assert statuses() == [("frozen", ""), ("waiting", "entry_limit")]

    def test_of_an_entry_leave_its_room_to_the_others(self):
        Originator.objects.update(daily_debit_max=3_000)
        take(instruction(amount=2_500), instruction(amount=1_000))
        make_rail(entry_max=2_000)
        freeze()

        assert statuses() == [("frozen", ""), ("waiting", "entry_limit")]

    def test_do_not_keep_reversals_which_would_be_too_late(self):
        (paid,) = take(credit(amount=1_000))
        freeze()
        AchEntry.objects.update(status="sent")
        AchEntry.objects.update(status="accepted", accepted_at=FREEZE)
        Originator.objects.update(
            daily_debit_max=0, exposure_max=0, debits_stopped_at=NOON, debits_stopped_why="Returns"
        )
        (back,) = take(
            instruction(amount=1_000, purpose=Purpose.REVERSAL, original_id=paid.instruction_id)
        )
        freeze(FREEZE + timedelta(days=1))

        back.refresh_from_db()
        assert (back.status, back.waits_for) == ("frozen", "")

    def test_keep_debits_waiting_once_they_are_stopped(self):
        take(instruction(), credit())
        Originator.objects.update(debits_stopped_at=NOON, debits_stopped_why="Returns")
        freeze()

        assert statuses() == [("frozen", ""), ("waiting", "debits_stopped")]


class TestFile:
    def test_says_what_its_entries_say(self):
        take(
            instruction(amount=111, individual_id="C-1", account=account("000123-4")),
            credit(amount=222),
        )
        freeze()
        build()

        file = the_file()
        details = [
            item.record
            for item in read(BytesIO(content(file)))
            if isinstance(item, Item) and isinstance(item.record, EntryDetail)
        ]
        assert {
            (each.transaction_code, each.dfi_account_number, each.amount, each.individual_name)
            for each in details
        } == {(27, "000123-4", 111, "ACME LODZ GMBH"), (22, "1000200", 222, "ACME LODZ GMBH")}
        assert {each.trace_number for each in details} == set(
            AchEntry.objects.values_list("trace_number", flat=True)
        )

    def test_is_judged_sealed_and_added_up(self):
        take_some(5)
        freeze()
        build()

        file = the_file()
        data = content(file)
        assert list(Validator(BytesIO(data))) == []
        assert (file.sha256, file.size) == (hashlib.sha256(data).hexdigest(), len(data))
        assert (file.entry_count, file.debit_total, file.credit_total) == (5, 5 * 1_234, 0)
        assert (file.status, file.built_by, file.remote_name) == (
            "built",
            "system",
            "202611241345A.ach",
        )
        with connection.cursor() as cursor:
            cursor.execute("SELECT content_token FROM ach_outfilechunk")
            assert b"ACME" not in cursor.fetchone()[0].encode()

    def test_with_a_fault_is_held_and_says_where_it_is(self):
        take_some(2)
        freeze()
        tamper("UPDATE ach_achentry SET name = 'lower case'")
        build()

        file = the_file()
        assert (file.status, file.sha256, file.chunks.count()) == ("held", "", 0)
        assert [(each["line"], each["code"]) for each in file.faults] == [(3, "does_not_fit")]

    def test_that_only_the_second_judge_refuses_is_held(self):
        take_some(2)
        freeze()
        tamper("UPDATE ach_achentry SET routing_number = '011000016'")
        build()

        file = the_file()
        assert (file.status, file.sha256, file.chunks.count()) == ("held", "", 0)
        assert [(each["line"], each["code"]) for each in file.faults] == [
            (3, "check_digit_wrong"),
            (4, "check_digit_wrong"),
        ]

    def test_is_built_again_once_the_fault_is_gone(self):
        take_some(2)
        freeze()
        tamper("UPDATE ach_achentry SET name = 'lower case'")
        build()
        tamper("UPDATE ach_achentry SET name = 'UPPER CASE'")

        releasing.build_again(the_file().pk, by="ada")
        build()

        assert (the_file().status, the_file().faults) == ("built", [])

    def test_with_sums_other_than_what_was_frozen_is_held(self):
        take_some(2)
        freeze()
        OutFile.objects.update(debit_total=1)
        build()

        assert (the_file().status, the_file().faults[0]["code"]) == ("held", "sums_differ")

    def test_with_the_account_of_another_entry_is_held(self):
        one, other = take_some(2)
        freeze()
        AchEntry.objects.filter(pk=one.pk).update(account_token=other.account_token)
        build()

        assert the_file().faults[0]["code"] == "account_unreadable"

    def test_balanced_carries_the_other_side_on_our_account(self):
        make_rail(offset="balanced", offset_routing="099900001", offset_account="77777")
        take(instruction(amount=500), credit(amount=200))
        freeze()
        build()

        file = the_file()
        assert file.faults == []
        assert (file.debit_total, file.credit_total, file.entry_count) == (700, 700, 4)
        assert content(file).count(b"77777") == 2
        assert TraceCounter.objects.get().next == 5
