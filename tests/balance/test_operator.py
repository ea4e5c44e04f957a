"""The operator's lines: written once, added up by day, and no tenant's business."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from balance import exports, journal
from balance import services as ledger
from balance.errors import PostingConflict
from balance.kinds import PostingType
from balance.models import OperatorDay, OperatorLine
from balance.operator import checks
from balance.operator.accounts import PAIRS, OperatorAccount, Step, clearing_sql
from balance.operator.posting import Booking
from balance.operator.totals import roll_up, totals
from balance.sets import Entry
from common import database_clock, days
from common.audits import Scope
from common.money import AMOUNT_MAX
from tenants.actors import SYSTEM
from tests.balance.builders import balance_of, entry, fund, round_trips
from tests.builders import NOW

DAY = timedelta(days=1)


def booking(tenant: Any, step: Step = Step.IN_SETTLED, amount: int = 100, **other: Any) -> Booking:
    known = {"rail": "ach", "source_type": "funding_transaction", "source_id": "ftx_1"}
    return Booking(step, amount, tenant_id=tenant.pk, **known | other)


def credit_of(tenant: Any) -> Entry:
    """The posting that belongs to the lines of `booking`."""
    known = {"source_type": "funding_transaction", "source_id": "ftx_1"}
    return entry(tenant, PostingType.CREDIT, 100, **known)


def balances() -> dict[str, int]:
    return {total.name: total.debit - total.credit for total in totals()}


def test_every_step_names_two_accounts():
    assert set(PAIRS) == set(Step)
    assert all(debited != credited for debited, credited in PAIRS.values())


@pytest.mark.parametrize("step", list(Step))
@pytest.mark.django_db
def test_the_sign_in_sql_is_that_of_the_pair(step):
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {clearing_sql('given.step')} FROM (SELECT %s) AS given (step)", [step]
        )
        assert cursor.fetchone() == (PAIRS[step].sign(OperatorAccount.BANK_CLEARING),)


SOUND = "SELECT balance_operator_line_is_sound(%s, %s, %s, %s)"


@pytest.mark.parametrize("step", [*Step, "unknown"])
@pytest.mark.django_db
def test_a_line_needs_the_rail_and_the_tenant_that_its_step_concerns(step):
    def is_sound(rail: str, tenant: str | None, amount: int = 1) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(SOUND, [step, amount, rail, tenant])
            return bool(cursor.fetchone()[0])

    pair = PAIRS.get(step, ())

    assert is_sound("ach", "ten_1") is (step in PAIRS)
    assert is_sound("", "ten_1") is (step in PAIRS and OperatorAccount.SETTLEMENT not in pair)
    assert is_sound("ach", None) is (step in PAIRS and OperatorAccount.BANK_CLEARING not in pair)
    assert not is_sound("ach", "ten_1", 0)
    assert not is_sound("ach", "ten_1", AMOUNT_MAX + 1)
    assert is_sound("ach", "ten_1", AMOUNT_MAX) is (step in PAIRS)


class TestLines:
    def test_are_dated_by_the_bank_or_else_by_when_they_are_written(self, acme):
        settled = booking(acme, day=days.day_of(NOW - DAY))
        ledger.book([settled, booking(acme, Step.IN_FINAL)], now=NOW)

        found = OperatorLine.objects.values_list("step", "day", "created_at")
        assert set(found) == {
            ("in_settled", days.day_of(NOW - DAY), NOW),
            ("in_final", days.day_of(NOW), NOW),
        }

    def test_are_written_once_however_often_they_are_asked_for(self, acme):
        first = booking(acme)
        ledger.book([first], now=NOW)
        ledger.book([first, booking(acme, Step.IN_FINAL)], now=NOW + DAY)
        ledger.book([first._replace(day=days.day_of(NOW + DAY))], now=NOW + DAY)

        assert OperatorLine.objects.count() == 2
        assert OperatorLine.objects.get(step="in_settled").created_at == NOW

    @pytest.mark.parametrize("change", [{"amount": 101}, {"rail": "other"}, {"tenant_id": None}])
    def test_say_one_thing(self, acme, change):
        ledger.book([booking(acme)], now=NOW)

        with pytest.raises(PostingConflict, match="ftx_1 in_settled"):
            ledger.book([booking(acme)._replace(**change)], now=NOW)

    @pytest.mark.parametrize("amount", [0, -1, 10**15 + 1, 1.5])
    def test_are_of_an_amount(self, acme, amount):
        with pytest.raises(ValueError, match="is not an amount"):
            ledger.book([booking(acme, amount=amount)], now=NOW)

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE balance_operator_line SET amount = 1",
            "DELETE FROM balance_operator_line",
            "TRUNCATE balance_operator_line",
            "INSERT INTO balance_operator_line SELECT * FROM balance_operator_line",
        ],
    )
    def test_are_written_by_the_function_alone(self, acme, statement):
        ledger.book([booking(acme)], now=NOW)

        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


class TestLinesOfASet:
    def test_come_in_the_same_round_trip(self, acme):
        known = {"source_type": "funding_transaction", "source_id": "ftx_0"}
        first = entry(acme, PostingType.CREDIT, 1, **known)
        ledger.post_all([first], [booking(acme, source_id="ftx_0")], now=NOW)  # prepared
        booked = [booking(acme), booking(acme, Step.IN_FINAL)]
        with round_trips() as made:
            ledger.post_all([credit_of(acme)], booked, now=NOW)

        assert made.count == 1
        assert balance_of(acme) == (101, 0, 0)
        assert OperatorLine.objects.count() == 3

    def test_come_with_the_first_posting_of_a_tenant(self, acme):
        ledger.post_all([credit_of(acme)], [booking(acme, Step.IN_FINAL)], now=NOW)

        assert balance_of(acme) == (100, 0, 0)
        assert OperatorLine.objects.get().step == "in_final"

    def test_are_written_without_any_posting(self, acme):
        ledger.post_all([], [booking(acme)], now=NOW)

        assert OperatorLine.objects.get().step == "in_settled"

    def test_refuse_the_set_if_they_say_something_else(self, acme):
        fund(acme, 1)
        ledger.book([booking(acme)], now=NOW)

        with pytest.raises(PostingConflict, match="ftx_1 in_settled"), transaction.atomic():
            ledger.post_all([credit_of(acme)], [booking(acme, amount=101)], now=NOW)
        assert balance_of(acme) == (1, 0, 0)


class TestTotals:
    def test_are_the_same_whether_days_are_stored_or_not(self, acme):
        for number in range(4):
            at = NOW + number * DAY
            lines = [booking(acme, step, 100 + number) for step in (Step.IN_SETTLED, Step.IN_FINAL)]
            ledger.book([each._replace(source_id=f"ftx_{number}") for each in lines], now=at)
        before = balances()
        with database_clock.at(NOW + 3 * DAY):
            assert roll_up() == 3
            assert roll_up() == 0

        assert (
            balances()
            == before
            == {
                "settlement:ach": 406,
                "debits_in_transit": 0,
                "bank_clearing": -406,
            }
        )
        assert OperatorDay.objects.filter(step="in_final").count() == 3
        assert list(checks.check_days(Scope(full=True))) == []

    def test_of_a_stored_day_get_no_more_lines(self, acme):
        ledger.book([booking(acme)], now=NOW)
        with database_clock.at(NOW + DAY):
            roll_up()
            ledger.book([booking(acme, source_id="ftx_late")], now=NOW)

        late = OperatorLine.objects.get(source_id="ftx_late")
        assert days.day_of(late.created_at) == days.day_of(NOW) + DAY
        assert list(checks.check_days(Scope(full=True))) == []
        assert balances()["settlement:ach"] == 200


def test_an_adjustment_waits_in_suspense_until_somebody_explains_it(acme):
    staff: dict[str, Any] = {"reason": "Look", "actor": SYSTEM, "now": NOW}
    ledger.adjust(tenant_id=acme.pk, type="credit", amount=900, **staff)
    ledger.adjust(tenant_id=acme.pk, type="debit", amount=250, **staff)

    assert balances() == {"suspense": 650, "bank_clearing": -650}
    sheet = {total.account: total.debit - total.credit for total in journal.trial_balance()}
    assert sheet == {"bank_clearing": 0, "suspense": 650, "tenant_available": -650}


def test_the_journal_of_all_ends_with_the_operators_legs(acme):
    ledger.book([booking(acme)], now=NOW)

    number = OperatorLine.objects.get().pk
    legs = [(row[0], row[5], row[6], row[7]) for row in exports.rows()]
    assert legs == [
        (f"operator_{number}", "settlement:ach", 100, 0),
        (f"operator_{number}", "debits_in_transit", 0, 100),
    ]
    assert list(exports.rows(since=NOW + DAY)) == []
    assert list(exports.rows(until=NOW)) == []
    assert list(exports.rows(acme.pk)) == []
