from __future__ import annotations

from datetime import timedelta

import pytest

from common.engine.http.client import Answer, Failure
from tests.builders import NOW
from webhooks.dispatcher import outcomes
from webhooks.dispatcher.outcomes import RETRY_AFTER_MAX, SCHEDULE
from webhooks.states import DeliveryStatus


def judge(answer, *, failures=0, jitter=0.0):
    return outcomes.judge(answer, failures=failures, jitter=jitter, now=NOW)


def test_the_schedule_is_the_contracts():
    seconds = [int(wait.total_seconds()) for wait in SCHEDULE]

    assert seconds == [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
    assert timedelta(hours=75) < sum(SCHEDULE, timedelta()) < timedelta(hours=77)


@pytest.mark.parametrize("failures", range(10))
def test_a_failure_waits_for_its_place_in_the_schedule(failures):
    first = judge(Answer(status=500), failures=failures)
    last = judge(Answer(status=500), failures=failures, jitter=1.0)

    assert first.status == last.status == DeliveryStatus.PENDING
    assert first.next_attempt_at == NOW + SCHEDULE[failures]
    assert last.next_attempt_at == NOW + SCHEDULE[failures] * 1.2


def test_the_eleventh_failure_is_the_last():
    assert judge(Answer(failure=Failure.TIMEOUT), failures=10).status == DeliveryStatus.FAILED


@pytest.mark.parametrize("failures", [0, 10])
def test_a_success_ends_it_at_any_try(failures):
    assert judge(Answer(status=200), failures=failures).status == DeliveryStatus.DELIVERED


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("text", "wait"),
        [
            ("120", timedelta(minutes=2)),
            ("0", timedelta(0)),
            ("99999999999999999999", RETRY_AFTER_MAX),
            ("Fri, 20 Nov 2026 15:10:00 GMT", timedelta(minutes=10)),
            ("Fri, 20 Nov 2026 15:10:00 -0000", timedelta(minutes=10)),
            ("Fri, 20 Nov 2026 14:00:00 GMT", timedelta(0)),
            ("Fri, 20 Nov 2036 15:00:00 GMT", RETRY_AFTER_MAX),
            ("soon", timedelta(0)),
            ("-5", timedelta(0)),
            ("1.5", timedelta(0)),
            ("\u0661\u0662", timedelta(0)),
            ("", timedelta(0)),
            (None, timedelta(0)),
            ("Mon, 01 Jan 99999999999999999999 00:00:00 +0000", timedelta(0)),
            ("Mon, 01 Jan 2026 00:00:00 +99999999999999999999", timedelta(0)),
        ],
    )
    def test_is_read_as_seconds_or_a_date(self, text, wait):
        assert outcomes.retry_after(text, now=NOW) == wait

    @pytest.mark.parametrize(
        ("status", "wait"),
        [(429, timedelta(hours=1)), (503, timedelta(hours=1)), (500, SCHEDULE[0])],
    )
    def test_is_obeyed_from_busy_receivers_only(self, status, wait):
        answer = Answer(status=status, retry_after="3600")

        assert judge(answer).next_attempt_at == NOW + wait

    def test_never_shortens_the_schedule(self):
        answer = Answer(status=429, retry_after="1")

        assert judge(answer, failures=4).next_attempt_at == NOW + SCHEDULE[4]
