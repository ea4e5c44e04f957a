from __future__ import annotations

from datetime import timedelta

import pytest

from balance import services as ledger
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from networks.ach.models import AchEntry, AchReversal, InRecord
from reconciliation import booking, closing, expecting
from reconciliation.models import (
    BankStatement,
    ClosedDay,
    ExpectedLine,
    StatementLine,
)
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.dishonored import contest, dishonor
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    in_force,
    of_kinds,
    take,
)
from tests.reconciliation.transfers import batch_of, book, expected_of, settled

pytestmark = pytest.mark.django_db
SUNDAY = MONDAY - timedelta(days=1)


def taken(*, now=NOW):
    return expecting.take(RAIL, now=now)


class TestSettledTransfers:
    def test_are_expected_with_what_the_network_knows(self, rail, account, acme):
        batch = batch_of(rail)
        money_in, money_out = settled(acme, batch, 5_000, -700)

        assert taken() == 2

        line = expected_of(money_in)
        assert (line.amount, line.counts_on, line.step) == (5_000, MONDAY, "in_settled")
        assert (line.batch, line.file) == (batch.pk, batch.file_id)
        assert (line.trace, line.reference) == (money_in.trace_number, money_in.reference)
        assert (expected_of(money_out).amount, line.match, line.taken_at) == (-700, None, NOW)

    def test_are_taken_once(self, rail, account, acme):
        settled(acme, batch_of(rail), 5_000)

        assert (taken(), taken()) == (1, 0)

    def test_are_not_looked_at_again(self, rail, account, acme, django_assert_num_queries):
        """Neither is the account locked then, which matching and closing wait for."""
        settled(acme, batch_of(rail), 5_000)
        taken()

        with django_assert_num_queries(3) as asked:
            taken()

        assert not [each for each in asked.captured_queries if "FOR UPDATE" in each["sql"]]

    def test_that_settle_later_are_taken_later(self, rail, account, acme):
        batch = batch_of(rail)
        settled(acme, batch, 5_000)
        taken()
        (later,) = settled(acme, batch, 600, day=TUESDAY)

        assert taken() == 1
        assert expected_of(later).counts_on == TUESDAY

    def test_are_taken_although_the_bank_gave_reason_for_a_later_line(self, rail, account, acme):
        """Nobody took lines for hours, and meanwhile a person booked a line of the bank."""
        (entry,) = settled(acme, batch_of(rail), 5_000, now=NOW - timedelta(hours=3))
        take(of_kinds(MONDAY, ("return", -70)))
        booking.to_suspense(StatementLine.objects.get(), by="ann", reason="Not ours", now=NOW)

        assert taken() == 1
        assert expected_of(entry).amount == 5_000

    def test_of_days_before_the_account_are_not_expected(self, rail, account, acme):
        settled(acme, batch_of(rail), 5_000, day=SUNDAY)

        assert taken() == 0

    def test_of_a_rail_without_an_account_are_not_expected(self, rail, acme):
        settled(acme, batch_of(rail), 5_000)

        assert taken() == 0

    def test_of_another_rail_are_not_expected(self, rail, account, acme):
        other = builders.make_rail("other")
        settled(acme, batch_of(other), 5_000)

        assert taken() == 0

    def test_that_no_longer_move_money_are_not_expected(self, rail, account, acme):
        (entry,) = settled(acme, batch_of(rail), 5_000)
        book(acme, entry, Step.IN_FINAL)

        assert taken() == 1
        assert set(ExpectedLine.objects.values_list("step", flat=True)) == {"in_settled"}

    def test_whose_day_is_closed_count_on_the_first_open_one(self, rail, account, acme):
        take(bai2_of(MONDAY))
        close(BankStatement.objects.get())
        (entry,) = settled(acme, batch_of(rail), 5_000, day=MONDAY)

        taken()

        assert expected_of(entry).counts_on == TUESDAY

    def test_sent_anew_are_those_of_the_entry_that_went(self, rail, account, acme):
        refused = builders.make_entry(
            batch_of(rail), 76, instruction_id="ftx_again", settled=None, status="requeued"
        )
        again = builders.make_entry(
            batch_of(rail),
            77,
            instruction_id="ftx_again",
            replaces=refused,
            first_number=refused.pk,
        )
        book(acme, again, Step.IN_SETTLED)

        taken()

        line = expected_of(again)
        assert (line.batch, line.trace) == (again.batch_id, again.trace_number)
        assert line.reference == refused.reference

    def test_of_nothing_that_the_network_knows_have_no_batch(self, rail, account, acme):
        (entry,) = settled(acme, batch_of(rail), 5_000)
        stranger = AchEntry(
            instruction_id="ftx_stranger", amount=300, purpose="topup", is_debit=True, rail_id=RAIL
        )
        book(acme, stranger, Step.IN_SETTLED)

        assert taken() == 2
        line = expected_of(stranger)
        assert (line.amount, line.batch, line.file, line.trace, line.reference) == (
            300, None, "", "", "",
        )  # fmt: skip
        assert expected_of(entry).batch is not None


class TestReturns:
    def test_are_known_by_the_trace_of_the_return(self, rail, account, acme):
        (entry,) = settled(acme, batch_of(rail), 5_000)
        builders.take(builders.answer_file(builders.answer_batch(*builders.returned(entry))))
        book(acme, entry, Step.IN_RETURNED, day=TUESDAY)

        assert taken() == 2

        record = InRecord.objects.get(entry=entry)
        line = expected_of(entry, Step.IN_RETURNED)
        assert (line.amount, line.counts_on, line.batch, line.file) == (-5_000, TUESDAY, None, "")
        assert (line.trace, line.reference) == (record.rdfi_trace, entry.reference)
        assert expected_of(entry).trace == entry.trace_number

    def test_by_a_reversal_are_in_the_batch_of_the_reversal(self, rail, account, acme):
        (entry,) = settled(acme, batch_of(rail), 5_000)
        reversal = AchReversal.objects.create(
            entry=entry,
            reason="duplicate",
            note="Sent twice",
            discovered_at=NOW,
            status="done",
            proposed_by="ann",
            proposed_at=NOW,
            decided_by="bo",
            decided_at=NOW,
        )
        batch = batch_of(rail, number=2)
        sent = builders.make_entry(
            batch,
            88,
            instruction_id=reversal.pk,
            purpose="reversal",
            is_debit=False,
            transaction_code=22,
            amount=5_000,
        )
        book(acme, entry, Step.IN_RETURNED, day=TUESDAY)

        taken()

        line = expected_of(entry, Step.IN_RETURNED)
        assert (line.batch, line.file) == (batch.pk, batch.file_id)
        assert (line.trace, line.reference) == (sent.trace_number, sent.reference)

    def test_that_no_bank_named_have_no_trace(self, rail, account, acme):
        (entry,) = settled(acme, batch_of(rail), 5_000)
        book(acme, entry, Step.IN_RETURNED, day=TUESDAY)

        taken()

        line = expected_of(entry, Step.IN_RETURNED)
        assert (line.batch, line.trace, line.reference) == (None, "", entry.reference)


class TestDishonoredReturns:
    def test_are_entries_of_a_file_of_ours(self, acme, late):
        reply = dishonor(acme, late, day=TUESDAY)

        assert taken() == 1

        line = ExpectedLine.objects.get()
        assert (line.amount, line.counts_on, line.step) == (late.amount, TUESDAY, "in_dishonored")
        assert (line.batch, line.file) == (reply.batch_id, reply.batch.file_id)
        assert (line.trace, line.reference) == (reply.trace_number, late.entry.reference)

    def test_that_are_contested_have_the_trace_of_the_contest(self, acme, late):
        dishonor(acme, late, day=TUESDAY)
        record = contest(late, day=WEDNESDAY)

        assert taken() == 2

        line = ExpectedLine.objects.get(step="in_contested")
        assert (line.amount, line.counts_on, line.batch, line.file) == (
            -late.amount, WEDNESDAY, None, "",
        )  # fmt: skip
        assert (line.trace, line.reference) == (record.rdfi_trace, late.entry.reference)
        assert record.rdfi_trace != late.rdfi_trace

    def test_of_which_nothing_else_is_known_are_expected_all_the_same(self, rail, account, acme):
        step = Booking(
            Step.IN_DISHONORED, 70, RAIL, "return_dishonor", "rdh_unknown", acme.pk, TUESDAY
        )
        ledger.book([step], now=NOW)

        assert taken() == 1
        line = ExpectedLine.objects.get()
        assert (line.amount, line.batch, line.trace, line.reference) == (70, None, "", "")


def test_a_late_line_is_older_than_the_account_that_began_anew(rail, account, acme):
    take(bai2_of(MONDAY))
    closing.close(RAIL, now=NOW)
    in_force(opened_on=TUESDAY, cents=OPENING)
    (entry,) = settled(acme, batch_of(rail), 5_000, day=MONDAY)

    taken()

    assert expected_of(entry).counts_on == TUESDAY


def close(statement):
    """Nothing of it is in transit."""
    return ClosedDay.objects.create(
        rail_id=RAIL,
        statement=statement,
        day=statement.last_day,
        ledger=statement.closing,
        bank=statement.closing,
        in_transit=0,
        in_transit_lines=0,
        matches=0,
        expected_lines=0,
        closed_at=NOW,
    )
