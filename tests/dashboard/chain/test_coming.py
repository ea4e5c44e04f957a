"""What comes next, with its day, and that it is late once that day is over."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from common.clock import utc_now
from dashboard.chain import coming
from dashboard.chain.coming import Coming
from funding.models import FundingMethod
from funding.states import FundingStatus
from networks.instant import taking
from networks.instant.network import InstantNetwork
from payments.models import Payment, PaymentMethod
from payments.states import PaymentStatus
from tests.builders import NOW, make_funding, make_source
from tests.networks.instant.builders import RAIL, make_rail
from tests.networks.instant.builders import payment as instruction
from tests.payments.builders import fund, pay
from transfers import positions
from transfers.positions import Move

pytestmark = pytest.mark.django_db
FRIDAY = date(2026, 11, 20)
EASTERN = ZoneInfo("America/New_York")
LAST_MINUTE = datetime(2026, 11, 20, 23, 59, tzinfo=EASTERN)
NEXT_MINUTE = LAST_MINUTE + timedelta(minutes=1)


def of(row, *, now=LAST_MINUTE, is_stopped=False):
    tell = coming.of_payment if isinstance(row, Payment) else coming.of_funding
    return tell(row, is_stopped=is_stopped, now=now)


@pytest.fixture
def source(acme):
    return make_source(acme)


@pytest.fixture
def funding(acme, source):
    def make(status, **fields):
        return make_funding(
            acme, source, status=status, **{"expected_availability_date": FRIDAY} | fields
        )

    return make


@pytest.fixture
def payment(acme):
    fund(acme, 1_000_000)

    def make(status=PaymentStatus.PROCESSING, **fields):
        stored = Payment.objects.values().get(pk=pay(acme).pk)
        changed = {"status": status, "expected_arrival_date": FRIDAY, **fields}
        return Payment(**{**stored, **changed})

    return make


class TestFunding:
    def test_on_its_way_is_expected_on_its_day(self, funding):
        assert of(funding(FundingStatus.IN_TRANSIT)) == [
            Coming("Available in your balance", on=FRIDAY)
        ]

    def test_is_late_from_the_next_eastern_day_on(self, funding):
        row = funding(FundingStatus.IN_TRANSIT)

        (step,) = of(row, now=NEXT_MINUTE)
        assert (step.on, step.is_late) == (FRIDAY, True)
        assert "have not heard from the bank" in step.why

    def test_settles_before_it_is_available(self, funding):
        row = funding(FundingStatus.IN_TRANSIT, settlement_date=FRIDAY)

        assert [step.what for step in of(row)] == [
            "Settled between the banks",
            "Available in your balance",
        ]
        assert [step.what for step in of(row, now=NEXT_MINUTE)] == ["Available in your balance"]

    def test_that_is_reserved_is_sent_first(self, funding):
        assert [step.what for step in of(funding(FundingStatus.RESERVED))] == [
            "Sent to the bank",
            "Available in your balance",
        ]

    def test_that_operators_keep_promises_no_day(self, funding):
        assert of(funding(FundingStatus.RESERVED), is_stopped=True) == [
            Coming("Sent to the bank once sending resumes")
        ]

    def test_that_staff_look_at_promises_no_day(self, funding):
        row = funding(FundingStatus.RESERVED, held_at=NOW, hold_reason="look")

        assert of(row) == [Coming("Our staff finish their review")]

    def test_that_waits_for_approval_says_until_when(self, funding):
        row = funding(FundingStatus.AWAITING_CONFIRMATION, confirmation_expires_at=LAST_MINUTE)

        assert of(row)[0] == Coming("The request for approval expires", at=LAST_MINUTE)

    @pytest.mark.parametrize("status", [FundingStatus.COMPLETED, FundingStatus.FAILED])
    def test_that_is_over_has_nothing_to_come(self, funding, status):
        assert of(funding(status, settlement_date=FRIDAY), now=NEXT_MINUTE) == []

    def test_of_a_person_can_be_disputed_for_sixty_days(self, acme):
        theirs = make_source(acme, account_number="7788", holder_type="individual")
        row = make_funding(acme, theirs, status=FundingStatus.COMPLETED, settlement_date=FRIDAY)
        last = date(2027, 1, 20)  # the banking day after sixty days, a holiday between

        assert of(row) == [
            Coming("The holder of the account can dispute it until this day", on=last)
        ]
        assert of(row, now=datetime(2027, 1, 21, tzinfo=EASTERN)) == []

    def test_by_a_request_is_there_soon_and_then_late(self, funding):
        row = funding(FundingStatus.PENDING, method=FundingMethod.RTP)

        (soon,) = of(row)
        (late,) = of(row, now=NEXT_MINUTE)
        assert (soon.on, soon.why) == (None, "within seconds of the approval at the bank")
        assert (late.on, late.is_late) == (FRIDAY, True)


class TestPayment:
    def test_on_its_way_is_expected_and_may_come_back(self, payment):
        assert of(payment()) == [
            Coming("At the recipient's bank", on=FRIDAY),
            Coming("The recipient's bank can return it until this day", on=date(2026, 11, 24)),
        ]

    def test_is_late_from_the_next_eastern_day_on(self, payment):
        steps = of(payment(), now=NEXT_MINUTE)

        assert [step.is_late for step in steps] == [True, False]

    def test_that_arrived_may_come_back_until_the_window_is_over(self, payment):
        row = payment(PaymentStatus.COMPLETED, settlement_date=FRIDAY)

        assert [step.on for step in of(row)] == [date(2026, 11, 24)]
        assert of(row, now=datetime(2026, 11, 24, 23, 59, tzinfo=EASTERN)) != []
        assert of(row, now=datetime(2026, 11, 25, tzinfo=EASTERN)) == []

    def test_waits_for_our_money_at_the_network(self, payment):
        make_rail(keeps_position=True)
        row = payment(method=PaymentMethod.RTP)
        told = instruction(id=row.pk, amount=row.amount)
        InstantNetwork(RAIL).submit_many([told], now=utc_now())

        assert of(row) == [
            Coming(
                "Sent once our account at the network has the money",
                why="It goes by itself. Nothing of it has left yet.",
            )
        ]

        put = Move(rail=RAIL, cents=row.amount)
        positions.put_in_force(put, reason="Payroll", by="Ada", now=utc_now())
        taking.release_waiting(RAIL, now=utc_now())
        assert [step.what for step in of(row)] == ["At the recipient's bank"]

    def test_by_rtp_cannot_come_back(self, payment):
        assert of(payment(PaymentStatus.COMPLETED, method=PaymentMethod.RTP)) == []

    def test_that_waits_for_approval_says_until_when(self, payment):
        row = payment(
            PaymentStatus.CREATED, requires_confirmation=True, confirmation_expires_at=NEXT_MINUTE
        )

        assert of(row) == [
            Coming("The request for approval expires", at=NEXT_MINUTE),
            Coming("Sent to the bank, if it is approved"),
        ]

    def test_that_waits_for_money_says_until_when(self, payment):
        row = payment(PaymentStatus.WAITING_FOR_FUNDS, waits_until=NEXT_MINUTE)

        assert of(row) == [Coming("Canceled if the balance does not cover it", at=NEXT_MINUTE)]

    @pytest.mark.parametrize(
        ("fields", "what"),
        [
            ({"held_at": NOW}, "Our staff finish their review"),
            ({"held_back_at": NOW}, "Sent once the available balance is no longer below zero"),
        ],
        ids=["on hold", "held back"],
    )
    def test_that_is_kept_promises_no_day(self, payment, fields, what):
        assert of(payment(PaymentStatus.CREATED, **fields)) == [Coming(what)]

    @pytest.mark.parametrize(
        "status", [PaymentStatus.FAILED, PaymentStatus.RETURNED, PaymentStatus.CANCELED]
    )
    def test_that_is_over_has_nothing_to_come(self, payment, status):
        assert of(payment(status, settlement_date=FRIDAY)) == []


def test_a_page_marks_what_is_late_and_nothing_else(acme, source, dana_browser):
    today = utc_now().astimezone(EASTERN).date()

    def moving(day):
        return make_funding(
            acme, source, status=FundingStatus.IN_TRANSIT, expected_availability_date=day
        )

    late, due = moving(today - timedelta(days=1)), moving(today)

    def text(row):
        return dana_browser.get(f"/dashboard/funding/{row.pk}").content.decode()

    assert text(late).count('<span class="badge badge--warn">Late</span>') == 2
    assert "Late" not in text(due)
