"""Times on pages are those of the books, US Eastern, and say so: days of filters and statements."""

from __future__ import annotations

import csv
from datetime import UTC, datetime

import pytest

from dashboard.templatetags import ballast
from tenants.actors import SYSTEM
from tenants.services import audit
from tests.balance.builders import fund
from tests.payments.builders import pay

HALLOWEEN = datetime(2026, 11, 1, 3, 30, tzinfo=UTC)  # 11:30 PM on October 31 in New York
LATE = datetime(2026, 11, 22, 4, 30, tzinfo=UTC)  # 11:30 PM on November 21


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (HALLOWEEN, "Oct 31, 2026, 11:30 PM EDT"),
        (LATE, "Nov 21, 2026, 11:30 PM EST"),
        ("2026-11-22T05:00:00Z", "Nov 22, 2026, 12:00 AM EST"),
        ("2026-11-01T06:30:00Z", "Nov 1, 2026, 1:30 AM EST"),
        ("2026-11-01T05:30:00Z", "Nov 1, 2026, 1:30 AM EDT"),
    ],
)
def test_an_instant_is_shown_in_the_zone_of_the_books(at, text):
    assert ballast.moment(at) == text


def test_an_instant_beside_a_log_has_its_seconds():
    assert ballast.moment_with_seconds("2026-11-22T05:00:09Z") == "Nov 22, 2026, 12:00:09 AM EST"


def test_the_last_day_of_an_open_verification_is_one_of_the_books():
    assert ballast.booked_day(HALLOWEEN) == "October 31"


def test_a_statement_holds_and_shows_days_of_its_own_month(acme, dana_browser):
    fund(acme, 1_000, now=HALLOWEEN)
    fund(acme, 2_000, now=LATE)

    content = dana_browser.get("/dashboard/statements/2026-10").content.decode()

    assert "October 1 to October 31, 2026, US Eastern time" in content
    assert 'colspan="2">Oct 31</th>' in content
    assert ">11:30 PM EDT</time>" in content
    assert "Nov 1" not in content


def test_a_ledger_line_of_a_statement_has_the_day_and_the_time(acme, dana_browser):
    fund(acme, 1_000, now=HALLOWEEN)

    content = dana_browser.get("/dashboard/statements/2026-10?view=ledger").content.decode()

    assert "Oct 31, 2026, 11:30 PM EDT</time>" in content


def test_a_day_of_the_filter_shows_that_day(acme, dana_browser):
    fund(acme, 2_000, now=LATE)

    path = "/dashboard/transactions?view=ledger&since=2026-11-21&until=2026-11-21"
    content = dana_browser.get(path).content.decode()

    assert "Nov 21, 2026, 11:30 PM EST</time>" in content
    assert "Nov 22" not in content
    assert "dates and times here are US Eastern" in content


def test_a_movement_stands_under_that_day(acme, dana_browser):
    fund(acme, 2_000, now=LATE)

    path = "/dashboard/transactions?since=2026-11-21&until=2026-11-21"
    content = dana_browser.get(path).content.decode()

    assert 'colspan="2">Nov 21</th>' in content
    assert ">11:30 PM EST</time>" in content
    assert "Nov 22" not in content


@pytest.mark.parametrize("path", ["transactions", "payments", "audit-log"])
def test_a_downloaded_line_carries_the_day_by_which_it_was_found(acme, dana_browser, path):
    fund(acme, 2_000, now=LATE)
    pay(acme, 500, now=LATE)
    audit.record(
        tenant_id=acme.pk, actor=SYSTEM, action="member.removed", subject_id="mem_1", now=LATE
    )

    response = dana_browser.get(f"/dashboard/{path}.csv?since=2026-11-21&until=2026-11-21")

    rows = list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))
    at = "at" if path == "audit-log" else "createdAt"
    assert {(row[at], row["easternDate"]) for row in rows} == {
        ("2026-11-22T04:30:00.000000Z", "2026-11-21")
    }


@pytest.mark.parametrize("path", ["transactions", "payments", "audit-log"])
def test_every_filter_of_days_names_their_zone(acme, dana_browser, path):
    fund(acme, 2_000, now=LATE)
    pay(acme, 500, now=LATE)

    assert b"dates and times here are US Eastern" in dana_browser.get(f"/dashboard/{path}").content
