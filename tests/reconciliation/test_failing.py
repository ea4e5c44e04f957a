"""Sweeps that fail in each run, and tenants whose money is not there, are told to people."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection

from config.metrics import Alarms
from desk.home.attention import of_coverage, of_failing
from reconciliation import alarms, closing, failing, proving, tasks, unproven
from reconciliation.failing import EVERY_RAIL, TIME_TO_RECOVER, Sweep
from reconciliation.matching import running
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import make_staff
from tests.database import owner
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import MONDAY, NOW, OPENING, bai2_of, of_kinds, take
from tests.solvency.builders import adjust, live

pytestmark = pytest.mark.django_db

SOON = timedelta(minutes=5)
LATE = NOW + TIME_TO_RECOVER


@pytest.fixture(autouse=True)
def _nothing_failed():
    cache.clear()


@pytest.fixture
def ann():
    return make_staff("ann@ballast.example", ["reconciliation.match_statementline"])


@contextmanager
def broken(table):
    """Nothing can be added to a table."""
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql"
            " AS $$ BEGIN RAISE 'broken'; END $$"
        )
        cursor.execute(f"CREATE TRIGGER broken BEFORE INSERT ON {table} EXECUTE FUNCTION refuse()")
    yield
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION refuse() CASCADE")


def known():
    return [(each.sweep, each.rail, each.since, each.why) for each in failing.failures()]


def told():
    mails = OutgoingEmail.objects.filter(template="work_alarm").order_by("created_at", "pk")
    return [(mail.to, mail.context["what"]) for mail in mails]


def samples(name):
    return [
        (sample.labels, sample.value)
        for metric in Alarms().collect()
        for sample in metric.samples
        if sample.name == name
    ]


class TestASweepThatFails:
    @pytest.mark.parametrize(
        ("sweep", "of", "table", "run"),
        [
            (Sweep.MATCHING, RAIL, "reconciliation_match", running.run_due),
            (Sweep.CLOSING, RAIL, "reconciliation_closedday", closing.close_due),
            (Sweep.PROVING, EVERY_RAIL, "solvency_proofreport", proving.sweep),
        ],
        ids=["matching", "closing", "proving"],
    )
    def test_is_known_until_it_works(self, account, sweep, of, table, run):
        take(of_kinds(MONDAY, ("credit", 300)))
        if sweep is not Sweep.MATCHING:
            running.run_due(now=NOW)
        if sweep is Sweep.PROVING:
            closing.close_due(now=NOW)

        with broken(table):
            run(now=NOW)
            run(now=NOW + SOON)

            assert known() == [(sweep, of, NOW, "ProgrammingError")]

        run(now=NOW + 2 * SOON)
        assert known() == []

    def test_is_told_after_a_quarter_of_an_hour_and_once_a_day(self, account, ann):
        failing.fails(Sweep.MATCHING, RAIL, why="OperationalError", now=NOW)
        alarms.tell([], now=LATE - timedelta(seconds=1))
        assert (told(), list(of_failing(now=LATE - timedelta(seconds=1)))) == ([], [])

        alarms.tell([], now=LATE)
        alarms.tell([], now=LATE + SOON)

        assert told() == [(ann.email, "Matching has failed since 9:00 AM EST")]
        (event,) = AuditEvent.objects.filter(action="reconciliation.failed")
        assert event.details == {"sweep": "matching", "of": f"rail {RAIL}", "people": 1}
        (line,) = of_failing(now=LATE)
        assert line.text == f"Rail {RAIL}: matching has failed since 9:00 AM EST."

    def test_metrics_say_for_how_long(self, account):
        name = "ballast_reconciliation_failing_seconds"
        assert samples(name) == []

        failing.fails(Sweep.PROVING, EVERY_RAIL, why="OperationalError", now=NOW)

        ((labels, seconds),) = samples(name)
        assert labels == {"sweep": "proving", "rail": ""}
        assert seconds > 0

    def test_holds_up_nothing_that_comes_after_it(self, account, ann):
        take(bai2_of(MONDAY))

        with broken("solvency_proofreport"):
            tasks.close_days()

        ((sweep, *_),) = known()
        assert sweep is Sweep.PROVING

    def test_that_is_disturbed_each_time_fails_as_well(self, account):
        for now in (NOW, NOW + SOON):
            with failing.noted(Sweep.PROVING, EVERY_RAIL, now=now):
                failing.fails(Sweep.PROVING, EVERY_RAIL, why=unproven.DISTURBED, now=now)

        assert known() == [(Sweep.PROVING, EVERY_RAIL, NOW, unproven.DISTURBED)]


class TestTenantsWhoAreNotCovered:
    NAME = "ballast_tenants_not_covered_cents"

    def prove(self, *, adjusted):
        adjust(live("Ada"), adjusted)  # by staff, and nothing at the bank explains it
        take(bai2_of(MONDAY))
        closing.close(RAIL, now=NOW)
        assert proving.prove_due(now=NOW)

    def test_are_in_the_metrics_and_told_once_a_day(self, account, ann):
        assert samples(self.NAME) == []  # nothing is proven
        self.prove(adjusted=OPENING + 1)

        alarms.tell([], now=NOW)
        alarms.tell([], now=NOW + SOON)

        assert samples(self.NAME) == [({}, 1)]
        assert told() == [(ann.email, "Tenants own $0.01 more than lies at the banks")]
        (event,) = AuditEvent.objects.filter(action="tenants.not_covered")
        assert event.details == {"day": "2026-11-16", "amount": 1, "people": 1}
        (line,) = of_coverage()
        assert line.text == "Tenants own $0.01 more than lay at the banks on November 16."
        assert line.href == "/admin/desk/proofs/2026-11-16/"

    def test_are_covered_to_the_cent(self, account, ann):
        self.prove(adjusted=OPENING)

        alarms.tell([], now=NOW)

        assert samples(self.NAME) == [({}, 0)]
        assert (told(), list(of_coverage())) == ([], [])
