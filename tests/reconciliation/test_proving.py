"""A closed day is proven: what tenants own is what lies at the bank and what is on its way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from structlog.testing import capture_logs

from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.services import book as book_lines
from reconciliation import closing, expecting, proving
from solvency import reports
from solvency.models import ProofReport
from tests.networks.ach.inbound.builders import RAIL, make_rail
from tests.reconciliation.books import match_all
from tests.reconciliation.statements import (
    MONDAY,
    NOW,
    OPENING,
    TUESDAY,
    bai2_of,
    in_force,
    take,
)
from tests.solvency.builders import adjust, live, settle

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_was_logged():
    cache.clear()


def said(report):
    return reports.parsed(report)


def prove():
    return proving.prove_due(now=NOW)


def test_nothing_is_proven_before_a_day_is_closed(account):
    assert prove() is None
    take(bai2_of(MONDAY))
    assert prove() is None


def test_a_closed_day_is_proven_once(account):
    take(bai2_of(MONDAY))
    closing.close(RAIL, now=NOW)

    report = prove()

    assert report is not None
    assert report.day == MONDAY
    (bank,) = said(report)["bank"]
    assert (bank["closing"], bank["notOnStatement"], bank["ownFunds"]) == (OPENING, 0, OPENING)
    assert prove() is None
    assert ProofReport.objects.count() == 1


def test_what_is_in_transit_or_was_written_since_is_not_on_the_statement(account):
    """Of three debits one is on the statement, one in transit, and one settled on a later day."""
    for name, cents, day in (("Ada", 1_000, MONDAY), ("Bob", 300, MONDAY), ("Cy", 70, TUESDAY)):
        settle(live(name), cents, rail=RAIL, day=day)
    take(bai2_of(MONDAY, 1_000))
    match_all(MONDAY)
    closed = closing.close(RAIL, now=NOW)
    assert closed.in_transit == 300

    report = prove()

    (bank,) = said(report)["bank"]
    assert (bank["closing"], bank["notOnStatement"]) == (OPENING + 1_000, 370)
    assert said(report)["tenants"]["settled"] == 1_370
    assert said(report)["difference"] == 0


def test_what_settled_before_the_first_day_lay_in_what_was_agreed_on(account):
    settle(live("Ada"), 2_500, rail=RAIL, day=MONDAY - timedelta(days=3))
    take(bai2_of(MONDAY))
    closing.close(RAIL, now=NOW)

    (bank,) = said(prove())["bank"]

    assert (bank["closing"], bank["ownFunds"]) == (OPENING, OPENING - 2_500)


def test_an_account_of_two_rails_is_not_counted_twice(account):
    other = make_rail("other").pk
    in_force(rail=other)
    for rail in (RAIL, other):
        take(bai2_of(MONDAY), rail=rail)
        closing.close(rail, now=NOW)

    with capture_logs() as logs:
        assert prove() is None

    (event,) = [each for each in logs if each["event"] == "day_not_proven"]
    assert "firstbank and other have the same account" in event["why"]
    assert not ProofReport.objects.exists()


def test_a_day_waits_for_an_account_that_has_closed_only_later_ones(account):
    other = make_rail("other").pk
    in_force(rail=other, opened_on=TUESDAY)
    for rail, day in ((RAIL, MONDAY), (other, TUESDAY)):
        take(bai2_of(day), rail=rail)
        closing.close(rail, now=NOW)

    assert prove() is None


def test_a_difference_is_an_error_and_nothing_is_written(account):
    ada = live("Ada")
    lost = Booking(Step.IN_SETTLED, 5, RAIL, "funding_transaction", "ftx_lost", ada.pk, MONDAY)
    book_lines([lost], now=NOW)  # no funding says that it settled
    take(bai2_of(MONDAY))
    expecting.take(RAIL, now=NOW)
    closing.close(RAIL, now=NOW)

    with capture_logs() as logs:
        assert (prove(), prove()) == (None, None)

    events = [each for each in logs if each["event"] == "day_not_proven"]
    assert [each["log_level"] for each in events] == ["error", "info"]
    assert not ProofReport.objects.exists()


def test_what_the_bank_does_not_have_is_an_error_and_is_signed_all_the_same(account):
    adjust(live("Ada"), OPENING + 1)  # by staff, and nothing at the bank explains it
    take(bai2_of(MONDAY))
    closing.close(RAIL, now=NOW)

    with capture_logs() as logs:
        report = prove()

    (event,) = [each for each in logs if each["event"] == "tenants_not_covered"]
    assert (event["log_level"], event["cents"]) == ("error", 1)
    assert said(report)["difference"] == 0
