"""`manage.py close_day`, the task, and what those on call see."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from common.clock import utc_now
from config.metrics import Alarms
from desk.home.attention import of_days
from reconciliation import due, expecting, tasks
from reconciliation.models import ClosedDay, TransitNote
from tenants.models import AuditEvent
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import book
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    bai2_of,
    take,
)

pytestmark = pytest.mark.django_db


def run(*arguments):
    """What the command prints as JSON, and why it ends with status 1."""
    out = StringIO()
    try:
        call_command("close_day", "--json", *arguments, stdout=out)
    except CommandError as error:
        return json.loads(out.getvalue())["rails"].get(RAIL), str(error)
    return json.loads(out.getvalue())["rails"].get(RAIL), ""


class TestTheCommand:
    def test_closes_and_prints_what_the_account_comes_to(self, acme, account):
        book(acme, MONDAY, 5_000)
        take(bai2_of(MONDAY))

        shown, _ = run()

        nothing = {"lines": 0, "credits": 0, "debits": 0}
        assert shown["closed"] == ["2026-11-16"]
        assert ClosedDay.objects.get().closed_by == ""
        # The next days have no statement, and it is late.
        assert (shown["openDay"], shown["day"]) == ("2026-11-17", "2026-11-17")
        assert (shown["ledger"], shown["bank"]) == (OPENING + 5_000, None)
        assert shown["inTransit"] == {
            "0": nothing,
            "1": {"lines": 1, "credits": 5_000, "debits": 0},
            "2": nothing,
            "3": nothing,
        }
        assert (shown["unmatched"], shown["difference"]) == (nothing, None)

    def test_ends_with_an_error_that_says_why_a_day_stays_open(self, account):
        take(bai2_of(MONDAY, 5))

        shown, error = run("--rail", RAIL)

        assert shown["reasons"][0] in error
        assert error.startswith(f"{RAIL}: November 16, 2026 stays open. Nothing explains")
        assert (shown["closed"], shown["difference"]) == ([], -5)

    def test_names_its_operator_in_the_row_and_in_the_audit_log(self, account):
        take(bai2_of(MONDAY))
        run("--operator", "Ann Lee")

        day = ClosedDay.objects.get()
        event = AuditEvent.objects.get(action="day.closed")
        assert (day.closed_by, event.subject_id) == ("Ann Lee", day.pk)
        assert event.details["operator"] == "Ann Lee"

    def test_takes_notes_on_what_is_long_in_transit(self, acme, account):
        (line,) = book(acme, MONDAY, -5_000)
        for day in (MONDAY, TUESDAY, WEDNESDAY, THURSDAY):
            take(bai2_of(day))
        assert run()[0]["openDay"] == "2026-11-19"

        who = ("--operator", "Ann Lee", "--reason", "The bank looks for it")
        shown, _ = run("--note", f"{line}:2026-11-19", *who)

        assert shown["closed"] == ["2026-11-19"]
        note = TransitNote.objects.get()
        assert (note.line, note.until, note.written_by) == (line, THURSDAY, "Ann Lee")
        assert AuditEvent.objects.filter(action="transit.explained").exists()

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--rail", "other"), "no settlement account"),
            (("--note", "1:2026-11-19"), "--operator and --reason"),
            (("--note", "1", "--operator", "Ann", "--reason", "x"), "LINE:DAY"),
            (("--note", "1:2026-11-19", "--operator", "Ann", "--reason", "x"), "no such line"),
            (("--operator", "usr_1"), "not a person's name"),
        ],
        ids=["rail", "nobody", "form", "line", "name"],
    )
    def test_refuses_what_cannot_be(self, account, arguments, words):
        with pytest.raises(CommandError, match=words):
            call_command("close_day", *arguments)

    def test_without_any_account_does_nothing(self, db):
        assert run() == (None, "")


def test_the_task_closes_days(account):
    take(bai2_of(MONDAY))

    tasks.close_days()

    assert [(day.day, day.closed_by) for day in ClosedDay.objects.all()] == [(MONDAY, "")]


class TestOnCall:
    def test_metrics_say_what_is_open_and_unexplained(self, acme, account):
        book(acme, MONDAY, -300)
        take(bai2_of(MONDAY, 5))

        found = {
            sample.name: (sample.labels, sample.value)
            for metric in Alarms().collect()
            for sample in metric.samples
        }
        (standing,) = due.standings(now=utc_now())

        labels = {"rail": RAIL}
        assert found["ballast_unclosed_days"] == (labels, len(standing.late_days))
        assert standing.late_days[0] == MONDAY
        assert found["ballast_unreconciled_cents"] == (labels, 5)
        expecting.take(RAIL, now=NOW)  # a line that is overdue by now
        assert due.standings(now=utc_now())[0].unreconciled == 305

    def test_the_desk_says_from_when_on_days_are_open(self, account):
        (line,) = of_days(now=due.deadline(TUESDAY))

        assert line.text == f"Rail {RAIL}: 2 days not closed, from November 16 on."

    def test_all_is_quiet_in_time(self, account):
        take(bai2_of(MONDAY))
        tasks.close_days()

        assert list(of_days(now=due.deadline(MONDAY))) == []
