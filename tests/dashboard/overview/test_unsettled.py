"""What the overview says of money that is not settled yet."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from dashboard.overview import in_flight, unsettled
from dashboard.overview.unsettled import Due, Part
from dashboard.shell.stops import Stops
from funding.states import FundingStatus
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tests.builders import NOW, make_funding, make_source
from tests.payments.builders import fund, pay

TODAY = date(2026, 11, 20)
MONDAY = date(2026, 11, 23)
NOTHING_STOPPED = Stops()


def sums_of(tenant, *, stopped=NOTHING_STOPPED, most=8):
    found = in_flight.on_its_way(tenant_id=tenant.pk, most=most, stopped=stopped, now=NOW)
    return {one.way: one for one in found.unsettled}


def coming(tenant, source, amount, **changes):
    given: dict[str, Any] = {"status": FundingStatus.PENDING, "expected_availability_date": MONDAY}
    return make_funding(tenant, source, amount=amount, **given | changes)


class TestComingIn:
    def test_adds_up_all_of_a_day_however_few_are_listed(self, acme, rival):
        source = make_source(acme)
        for amount in (100, 20, 3):
            coming(acme, source, amount)
        coming(acme, source, 4_000, expected_availability_date=MONDAY + timedelta(days=1))
        coming(acme, source, 50_000, status=FundingStatus.COMPLETED)
        coming(rival, make_source(rival), 600_000)

        found = sums_of(acme, most=1)["in"]

        assert found.cents == 4_123
        assert found.parts == [Part(123, MONDAY), Part(4_000, date(2026, 11, 24))]

    @pytest.mark.parametrize(
        "changes",
        [
            pytest.param(
                {"status": FundingStatus.RESERVED, "held_at": NOW, "hold_reason": "?"}, id="held"
            ),
            pytest.param({"method": "rtp"}, id="instant"),
        ],
    )
    def test_gives_no_date_where_none_is_promised(self, acme, changes):
        coming(acme, make_source(acme), 700, **changes)

        assert sums_of(acme)["in"].parts == [Part(700, None)]

    def test_counts_what_waits_for_approval_apart(self, acme):
        source = make_source(acme)
        coming(acme, source, 700, status=FundingStatus.AWAITING_CONFIRMATION)
        coming(acme, source, 60)

        found = sums_of(acme)["in"]

        assert (found.cents, found.parts, found.waiting) == (60, [Part(60, MONDAY)], 700)

    def test_gives_no_date_of_what_operators_keep_back(self, acme):
        source = make_source(acme)
        coming(acme, source, 700, status=FundingStatus.RESERVED)
        coming(acme, source, 60)

        found = sums_of(acme, stopped=Stops(funding="We stopped."))["in"]

        assert found.parts == [Part(60, MONDAY), Part(700, None)]

    def test_says_so_when_it_is_late(self, acme):
        coming(acme, make_source(acme), 700, expected_availability_date=date(2026, 11, 19))

        assert sums_of(acme)["in"].parts == [Part(700, date(2026, 11, 19), is_late=True)]


class TestGoingOut:
    def test_adds_up_what_is_set_aside(self, acme):
        fund(acme, 10_000)
        going = pay(acme, 4_000)

        found = sums_of(acme)["out"]

        assert (found.cents, found.parts) == (4_000, [Part(4_000, going.expected_arrival_date)])

    def test_counts_what_waits_for_approval_apart(self, acme):
        fund(acme, 10_000)
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=0, actor=SYSTEM, now=NOW)
        assert pay(acme, 4_000).awaits_confirmation

        found = sums_of(acme)["out"]
        assert (found.cents, found.parts, found.waiting) == (0, [], 4_000)

    def test_says_nothing_of_another_tenant(self, acme, rival):
        fund(rival, 10_000)
        pay(rival, 4_000)

        assert sums_of(acme) == {}


class TestParts:
    def test_are_three_dates_and_one_sum_of_the_rest(self):
        rows: list[Due] = [
            {"due": f"2026-12-0{day}", "cents": day + 10, "promised": day, "waiting": 0}
            for day in (5, 1, 4, 2, 3)
        ]
        rows.append({"due": None, "cents": 20, "promised": 0, "waiting": 0})

        found = unsettled.unsettled(rows, way="in", today=TODAY)

        assert found.parts == [
            Part(1, date(2026, 12, 1)),
            Part(2, date(2026, 12, 2)),
            Part(3, date(2026, 12, 3)),
            Part(9, date(2026, 12, 4), is_rest=True),
            Part(70, None),
        ]
