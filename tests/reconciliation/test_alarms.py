"""What those who match lines are told by e-mail, and what they see on the desk's home page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.services import book as book_lines
from config.metrics import Alarms
from desk.home.attention import of_proofs, of_suspense
from reconciliation import alarms, booking, closing, due, proving, suspense, unproven
from reconciliation.models import BookedLine, ClosedDay
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import browser_of, make_staff
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.reconciliation import statements
from tests.reconciliation.statements import MONDAY, NOW, TUESDAY, bai2_of, of_kinds, take
from tests.solvency.builders import live

pytestmark = pytest.mark.django_db

OTHER_RAIL = "other"
A_DAY = timedelta(days=1)
LATE = due.deadline(MONDAY)


@pytest.fixture
def ann():
    return make_staff("ann@ballast.example", ["reconciliation.match_statementline"])


@pytest.fixture
def bea():
    """Somebody who matches no lines."""
    return make_staff("bea@ballast.example", ["reconciliation.view_closedday"])


def told():
    """Whom e-mails of alarms go to, and what they are about."""
    mails = OutgoingEmail.objects.filter(template="work_alarm").order_by("created_at", "pk")
    return [(mail.to, mail.context["what"]) for mail in mails]


def sweep(now):
    alarms.tell(closing.close_due(now=now), now=now)


def metrics():
    """The figures of all rails and of the only one, by their names."""
    return {sample.name: sample.value for metric in Alarms().collect() for sample in metric.samples}


def unproven_day():
    """Close a day whose proof has a difference; the day is proven late an hour after its time."""
    lost = Booking(Step.IN_SETTLED, 5, RAIL, "funding_transaction", "ftx_1", live().pk, MONDAY)
    book_lines([lost], now=NOW)
    take(bai2_of(MONDAY))
    closing.close(RAIL, now=NOW)


class TestADayThatStaysOpen:
    def test_is_told_once_a_day_to_those_who_match_lines(self, account, ann, bea):
        take(bai2_of(MONDAY, 300))
        sweep(LATE - timedelta(minutes=1))
        assert told() == []

        sweep(LATE)
        sweep(LATE + timedelta(minutes=5))
        assert told() == [(ann.email, "November 16, 2026 is not closed")]
        (mail,) = OutgoingEmail.objects.filter(template="work_alarm")
        assert "Nothing explains 1 line of the bank" in dict(mail.context["facts"])["Why"]

        sweep(LATE + A_DAY)
        assert len(told()) == 2

    def test_is_in_the_audit_log(self, account, ann):
        sweep(LATE)
        (event,) = AuditEvent.objects.filter(action="day.left_open")
        assert (event.actor_type, event.subject_id) == ("system", RAIL)
        assert event.details == {"rail": RAIL, "day": "2026-11-16", "people": 1}


class TestSuspense:
    @pytest.fixture
    def booked(self, account):
        take(of_kinds(MONDAY, ("credit", 4_200), ("debit", -700)))
        booking.book_open(RAIL, None, now=NOW)
        return list(BookedLine.objects.order_by("-amount"))

    def test_is_told_once_it_is_old(self, booked, ann):
        sweep(NOW + suspense.TIME_TO_CLEAR)
        assert "$49.00 in suspense should be explained" not in dict(told()).values()

        late = NOW + suspense.TIME_TO_CLEAR + timedelta(seconds=1)
        sweep(late)
        assert (ann.email, "$49.00 in suspense should be explained") in told()
        (line,) = of_suspense(now=late)
        assert line.text == f"Rail {RAIL}: $49.00 in suspense, since November 28."
        assert list(of_suspense(now=NOW)) == []

    def test_metrics_say_how_much_and_for_how_long(self, booked):
        (standing,) = suspense.standings()
        assert (standing.rail, standing.sums, standing.since) == (RAIL, (2, 4_200, 700), NOW)
        found = metrics()
        assert found["ballast_suspense_cents"] == 4_900
        assert found["ballast_suspense_oldest_seconds"] > 0

    def test_metrics_are_there_where_nothing_lies_in_it(self, account):
        found = metrics()
        assert found["ballast_suspense_cents"] == 0
        assert found["ballast_suspense_oldest_seconds"] == 0


class TestADayWithoutAProof:
    LATE = NOW + unproven.TIME_TO_PROVE

    def test_is_late_an_hour_after_it_closed(self, account, ann):
        unproven_day()
        assert unproven.late_days(now=self.LATE - timedelta(seconds=1)) == []
        assert unproven.late_days(now=self.LATE) == [MONDAY]

        sweep(self.LATE)

        assert (ann.email, "November 16, 2026 has no proof of funds") in told()
        (line,) = of_proofs(now=self.LATE)
        assert line.text == "Proofs of funds: 1 closed day not proven, from November 16 on."
        assert metrics()["ballast_unproven_days"] == 1

    def test_is_not_late_before_the_day_should_be_closed(self, account):
        early = due.deadline(MONDAY) - timedelta(hours=3)
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=early)
        assert unproven.late_days(now=due.deadline(MONDAY)) == []

    def test_is_covered_by_the_proof_of_a_later_day(self, account):
        for day in (MONDAY, TUESDAY):
            take(bai2_of(day))
            closing.close(RAIL, now=NOW)
        assert unproven.late_days(now=self.LATE) == [MONDAY, TUESDAY]
        report = proving.prove_due(now=NOW)
        assert report is not None
        assert report.day == TUESDAY
        assert unproven.late_days(now=self.LATE) == []

    def test_one_rail_without_a_closed_day_holds_up_all(self, account):
        make_rail(OTHER_RAIL)
        statements.in_force(rail=OTHER_RAIL)
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        assert ClosedDay.objects.count() == 1

        assert proving.prove_due(now=NOW) is None
        (obstacle,) = unproven.obstacles(now=NOW)
        assert obstacle.startswith("other ··")
        assert "has not closed a day yet, so no day is proven" in obstacle
        assert unproven.late_days(now=self.LATE) == [MONDAY]
        reader = browser_of(make_staff("pru@ballast.example", ["solvency.view_proofreport"]))
        page = reader.get("/admin/desk/proofs/").content.decode()
        assert "November 16, 2026 is closed and not proven." in page
        assert "has not closed a day yet, so no day is proven" in page

    def test_that_lines_were_taken_meanwhile_is_an_error_once_it_is_late(self, account):
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        for now, level in ((NOW, "info"), (self.LATE, "error")):
            with capture_logs() as logs:
                unproven.disturbed(MONDAY, now=now)
            assert [each["log_level"] for each in logs] == [level]
