"""The balance at moments of the past."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import history
from balance import services as ledger
from balance.history import Closing, Stretch
from tests.balance.builders import fund, movement
from tests.builders import NOW

DAY = timedelta(days=1)


def closings(tenant, *moments):
    return history.closings(tenant_id=tenant.pk, moments=moments)


class TestClosings:
    def test_of_a_tenant_without_lines_are_zero(self, acme):
        assert closings(acme, NOW, NOW + DAY) == [Closing(), Closing()]

    def test_are_what_was_available_just_before_each_moment(self, acme):
        for day in range(5):
            fund(acme, 100, now=NOW + day * DAY)

        assert closings(acme, NOW, NOW + DAY, NOW + DAY * 2.5, NOW + DAY * 9) == [
            Closing(),
            Closing(1, 100),
            Closing(3, 300),
            Closing(5, 500),
        ]

    def test_keep_the_order_that_was_asked_for(self, acme):
        fund(acme, 100)

        assert closings(acme, NOW + DAY, NOW - DAY) == [Closing(1, 100), Closing()]

    def test_are_those_of_one_tenant(self, acme, rival):
        fund(rival, 100)

        assert closings(acme, NOW + DAY) == [Closing()]

    def test_cost_one_query_however_many(self, acme, django_assert_num_queries):
        fund(acme, 100)

        with django_assert_num_queries(1):
            closings(acme, *(NOW + DAY * day for day in range(90)))


class TestCourse:
    def course(self, tenant):
        return history.course(
            tenant_id=tenant.pk, moments=[NOW + DAY * day for day in range(4)], spending="payment"
        )

    def test_says_what_was_added_before_each_closing_and_not_before_the_first(self, acme, rival):
        fund(acme, 900, now=NOW - DAY)
        fund(acme, 500, now=NOW)
        ledger.lock(**movement(acme, 200, now=NOW))
        fund(rival, 77, now=NOW)
        fund(acme, 30, now=NOW + DAY)
        ledger.debit(**movement(acme, 400, now=NOW + DAY, source_type="funding_transaction"))

        assert self.course(acme) == [
            Stretch(1, 900),
            Stretch(3, 1_200, 200, added=500),
            Stretch(5, 830, 200, added=-370),
            Stretch(5, 830, 200),
        ]

    def test_does_not_count_what_the_spending_brought_back(self, acme):
        fund(acme, 900, now=NOW - DAY)
        ledger.credit(**movement(acme, 50, now=NOW))

        assert [end.added for end in self.course(acme)] == [0, 0, 0, 0]

    def test_costs_one_query(self, acme, django_assert_num_queries):
        fund(acme, 100)

        with django_assert_num_queries(1):
            self.course(acme)


class TestBroughtIn:
    def added(self, tenant, *, after=0):
        moments = [NOW, NOW + DAY, NOW + 2 * DAY]
        return history.brought_in(
            tenant_id=tenant.pk, source_type="funding_transaction", after=after, moments=moments
        )

    def test_sums_what_one_kind_of_cause_added_and_took_back(self, acme):
        fund(acme, 500)
        fund(acme, 300, now=NOW + DAY)
        returned = {"source_type": "funding_transaction", "now": NOW + DAY}
        ledger.debit(**movement(acme, 100, **returned))
        ledger.lock(**movement(acme, 50, now=NOW + DAY))
        ledger.credit(**movement(acme, 7, source_type="adjustment", now=NOW + DAY))

        assert self.added(acme) == [500, 200]

    def test_leaves_out_what_came_before_and_after(self, acme):
        fund(acme, 500, now=NOW - DAY)
        fund(acme, 300)
        fund(acme, 900, now=NOW + 5 * DAY)

        assert self.added(acme, after=1) == [300, 0]

    @pytest.mark.parametrize("lines", [1, 40])
    def test_costs_one_query(self, acme, lines, django_assert_num_queries):
        for _ in range(lines):
            fund(acme, 1)

        with django_assert_num_queries(1):
            assert self.added(acme) == [lines, 0]
