"""Monthly statements: opening plus totals is closing."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import closed_months, invariants, statements
from balance import services as ledger
from balance.models import ClosedMonthTotal
from common.errors import NotFound
from tests.balance.builders import fund, movement

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
SEPTEMBER, OCTOBER, NOVEMBER = date(2026, 9, 1), date(2026, 10, 1), date(2026, 11, 1)


def at(month, day, hour=15):
    return datetime(2026, month, day, hour, tzinfo=UTC)


def months(tenant):
    return statements.months(tenant_id=tenant.pk, now=NOW)


def statement(tenant, first):
    return statements.statement(tenant_id=tenant.pk, first=first, now=NOW)


@pytest.fixture
def lived(acme):
    """A tenant since September who rested in October."""
    fund(acme, 100_000, now=at(9, 10))
    ledger.lock(**movement(acme, 30_000, now=at(9, 11), source_id="pay_1"))
    # The last hour of September in New York, though October in UTC.
    ledger.settle(**movement(acme, 30_000, now=at(10, 1, hour=3), source_id="pay_1"))
    fund(acme, 5_000, now=at(11, 2))
    return acme


class TestMonths:
    def test_of_a_tenant_without_lines_are_none(self, acme):
        assert months(acme) == []

    def test_run_from_the_first_line_to_now_newest_first(self, lived):
        found = months(lived)

        assert [month.first for month in found] == [NOVEMBER, OCTOBER, SEPTEMBER]
        assert [month.lines for month in found] == [1, 0, 3]
        assert [month.closing.available for month in found] == [75_000, 70_000, 70_000]
        assert [month.opening.available for month in found] == [70_000, 70_000, 0]

    def test_cost_two_queries(self, lived, django_assert_num_queries):
        with django_assert_num_queries(2):
            months(lived)


class TestStatement:
    def test_leads_from_the_opening_to_the_closing_balance(self, lived):
        found = statement(lived, SEPTEMBER)

        assert [
            (total.type, total.lines, total.available_delta, total.locked_delta)
            for total in found.totals
        ] == [
            ("credit", 1, 100_000, 0),
            ("lock", 1, -30_000, 30_000),
            ("settlement", 1, 0, -30_000),
        ]
        assert (found.month.opening.available, found.month.opening.locked) == (0, 0)
        assert (found.month.closing.available, found.month.closing.locked) == (70_000, 0)

    def test_of_a_month_of_rest_is_empty(self, lived):
        found = statement(lived, OCTOBER)

        assert found.totals == []
        assert found.month.opening == found.month.closing

    def test_of_this_month_goes_as_far_as_now(self, lived):
        fund(lived, 1, now=NOW)

        assert statement(lived, NOVEMBER).month.closing.available == 75_001

    @pytest.mark.parametrize("first", [date(2026, 8, 1), date(2026, 12, 1), date(2026, 9, 2)])
    def test_of_any_other_month_is_not_found(self, lived, first):
        with pytest.raises(NotFound):
            statement(lived, first)

    def test_is_of_one_tenant(self, lived, rival):
        fund(rival, 999, now=at(9, 12))

        found = statement(rival, SEPTEMBER)

        assert (found.month.lines, found.month.closing.available) == (1, 999)


class TestLongMonth:
    """Its totals are stored when they are first asked for; here, from three lines on."""

    @pytest.fixture(autouse=True)
    def _short_is_long(self, monkeypatch):
        monkeypatch.setattr(closed_months, "LINES_MIN", 3)

    def test_is_added_up_once(self, lived):
        first = statement(lived, SEPTEMBER)

        with CaptureQueriesContext(connection) as asked:
            again = statement(lived, SEPTEMBER)

        assert again.totals == first.totals
        assert not [query for query in asked if "SUM(" in query["sql"].upper()]

    def test_that_a_line_may_still_join_is_not_stored(self, acme):
        fund(acme, 100_000, now=at(9, 10))
        ledger.lock(**movement(acme, 30_000, now=at(9, 11), source_id="pay_1"))
        ledger.settle(**movement(acme, 30_000, now=at(9, 12), source_id="pay_1"))

        before = statement(acme, SEPTEMBER)
        fund(acme, 7, now=at(9, 30))
        after = statement(acme, SEPTEMBER)

        assert [total.lines for total in before.totals] == [1, 1, 1]
        assert [total.lines for total in after.totals] == [2, 1, 1]
        assert not ClosedMonthTotal.objects.exists()

    def test_that_goes_on_is_not_stored_although_a_line_came_since(self, acme):
        for day in (2, 3, 4, 5):
            fund(acme, 1_000, now=at(11, day))

        as_of = statements.statement(tenant_id=acme.pk, first=NOVEMBER, now=at(11, 4, hour=16))

        assert [total.lines for total in as_of.totals] == [3]
        assert not ClosedMonthTotal.objects.exists()

    def test_that_is_short_is_not_stored(self, lived):
        fund(lived, 5, now=at(12, 2))

        statements.statement(tenant_id=lived.pk, first=NOVEMBER, now=at(12, 3))

        assert not ClosedMonthTotal.objects.exists()

    def test_forged_totals_that_do_not_fit_are_not_shown(self, lived):
        forge(lived, SEPTEMBER, "credit", available=999)

        assert statement(lived, SEPTEMBER).totals[0].available_delta == 100_000

    def test_forged_totals_that_fit_are_found_by_the_full_check(self, lived):
        forge(lived, SEPTEMBER, "credit", lines=2, available=70_000)
        forge(lived, SEPTEMBER, "settlement", lines=1, available=0)

        assert [total.lines for total in statement(lived, SEPTEMBER).totals] == [2, 1]
        assert "closed_month" in {finding.code for finding in full_check().findings}

    def test_a_type_that_nobody_knows_is_not_shown(self, lived):
        true = statement(lived, SEPTEMBER).totals
        forge(lived, SEPTEMBER, "gift", available=0)

        assert statement(lived, SEPTEMBER).totals == true
        assert "closed_month" in {finding.code for finding in full_check().findings}

    def test_true_totals_are_no_finding(self, lived):
        statement(lived, SEPTEMBER)

        assert ClosedMonthTotal.objects.count() == 3
        assert "closed_month" not in {finding.code for finding in full_check().findings}


def forge(tenant, first, type, *, lines=1, available):
    ClosedMonthTotal.objects.create(
        tenant=tenant,
        first=first,
        type=type,
        lines=lines,
        available_delta=available,
        locked_delta=0,
    )


def full_check():
    return invariants.check(now=NOW, full=True)
