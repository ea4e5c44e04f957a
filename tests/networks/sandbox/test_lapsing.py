"""A request for payment that nobody answers lapses in the sandbox when it said that it would."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from funding.models import FundingMethod
from networks.base import EventKind, Method
from networks.sandbox import control
from networks.sandbox.bank import SandboxBank
from tests.builders import make_source
from tests.funding.builders import run_due, top_up
from tests.funding.test_lifecycle import balance_of
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
UNTIL = NOW + timedelta(hours=24)
LATER = NOW + timedelta(days=365)
SILENT = "30001"

bank = SandboxBank()
pytestmark = pytest.mark.django_db


def asked(
    number: str = SILENT,
    method: Method = Method.RTP_REQUEST,
    *,
    expires_at: datetime | None = None,
) -> None:
    told = replace(instruction(number, method=method), expires_at=expires_at)
    submit(bank, told, now=NOW)


def story(now: datetime) -> str:
    return " ".join(f"{event.kind}{event.code}" for event in bank.poll(now=now, limit=100))


@pytest.mark.parametrize("pace", ["instant", "seconds", "banking_days"])
def test_no_earlier_and_no_later(settings, pace):
    settings.SANDBOX_PACE = pace
    asked(expires_at=UNTIL)

    assert story(UNTIL - timedelta(microseconds=1)) == ""
    assert story(UNTIL) == story(LATER) == "rejectedEXPIRED"


def test_one_that_came_too_late_lapses_at_once():
    asked(expires_at=NOW - timedelta(minutes=1))

    assert story(NOW) == "rejectedEXPIRED"


def test_one_that_is_answered_does_not():
    asked("000123456789", expires_at=UNTIL)

    assert story(LATER) == "accepted final"


def test_what_is_no_request_stays_pending():
    asked(method=Method.ACH_DEBIT)

    assert story(LATER) == ""


def test_a_person_may_answer_it_before():
    asked(expires_at=UNTIL)

    events = control.complete("ftx_1", now=NOW)

    assert [event.kind for event in events] == [EventKind.ACCEPTED, EventKind.FINAL]
    assert story(LATER) == "accepted final"


def test_step_by_step_it_is_answered_and_lapses_no_more():
    asked(expires_at=UNTIL)

    control.advance("ftx_1", now=NOW)
    assert (story(NOW), story(LATER)) == ("accepted", "accepted rejectedEXPIRED")
    control.advance("ftx_1", now=NOW)

    assert story(LATER) == "accepted final"


def test_one_that_was_accepted_can_be_completed():
    asked(expires_at=UNTIL)
    control.advance("ftx_1", now=NOW)

    control.complete("ftx_1", now=NOW)

    assert story(LATER) == "accepted final"


def test_what_has_lapsed_is_over():
    asked(expires_at=UNTIL)
    control.advance("ftx_1", now=NOW)

    for act in (control.advance, control.complete, control.fail):
        with pytest.raises(control.ControlRefused, match="has been rejected EXPIRED"):
            act("ftx_1", now=UNTIL)


def test_a_top_up_that_nobody_approves_fails_when_it_said(acme, settings):
    funding = top_up(
        acme, source=make_source(acme, account_number=SILENT), method=FundingMethod.RTP, now=NOW
    )
    run_due(now=NOW)
    funding.refresh_from_db()
    until = funding.request_expires_at
    assert until == NOW + timedelta(hours=settings.REQUEST_FOR_PAYMENT_HOURS)

    run_due(now=until - timedelta(seconds=1))
    funding.refresh_from_db()
    assert (funding.status, balance_of(acme)) == ("pending", (0, 25_000, 0))
    run_due(now=until)

    funding.refresh_from_db()
    assert (funding.status, funding.failure_code) == ("failed", "EXPIRED")
    assert balance_of(acme) == (0, 0, 0)
