"""Prometheus metrics of delivery. Labels hold no URL and no tenant, because there is no bound to
these."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from prometheus_client import Counter, Gauge, Histogram

from common.engine.http.client import Answer, Failure
from webhooks.states import DeliveryStatus

if TYPE_CHECKING:
    from webhooks.dispatcher.results import Result

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 300)
_BLOCKED = {Failure.ADDRESS_NOT_ALLOWED, Failure.URL_NOT_ALLOWED}

ATTEMPTS = Counter("ballast_webhook_attempts", "Requests, by the class of the answer", ["answer"])
DELIVERIES = Counter("ballast_webhook_deliveries", "Deliveries that ended", ["outcome"])
BLOCKED = Counter("ballast_webhook_blocked", "Requests that the address or URL rule refused")
OWN_ERRORS = Counter("ballast_webhook_own_errors", "Tries that broke on our side; none counts")
RECLAIMED = Counter("ballast_webhook_reclaimed", "Deliveries whose lease had run out")
FENCED = Counter("ballast_webhook_fenced", "Results that came after their lease was lost")
SWITCHED_OFF = Counter("ballast_webhook_switched_off", "Endpoints switched off", ["reason"])
LAG = Histogram("ballast_webhook_lag_seconds", "From event to first request", buckets=_SECONDS)
SEND = Histogram("ballast_webhook_send_seconds", "Length of a request", buckets=_SECONDS)
CLAIM = Histogram("ballast_webhook_claim_seconds", "Length of a claim", buckets=_SECONDS)
IN_FLIGHT = Gauge("ballast_webhook_in_flight", "Requests running now", multiprocess_mode="livesum")


def count(results: Sequence[Result], *, recorded: Collection[str]) -> None:
    """Count tries. `recorded` are the deliveries whose result was recorded under its lease."""
    for answer, number in Tally(_class_of(result.answer) for result in results).items():
        ATTEMPTS.labels(answer).inc(number)
    BLOCKED.inc(sum(result.answer.failure in _BLOCKED for result in results))
    RECLAIMED.inc(sum(result.job.is_reclaimed for result in results))
    _count_ends([result for result in results if result.job.delivery_id in recorded])
    FENCED.inc(len(results) - len(recorded))
    for result in results:
        SEND.observe(result.answer.duration_ms / 1000)
        if result.job.attempt == 1:
            LAG.observe(max(0.0, (result.started_at - result.job.queued_at).total_seconds()))


def _count_ends(results: Sequence[Result]) -> None:
    for status, number in Tally(result.outcome.status for result in results).items():
        if status != DeliveryStatus.PENDING:
            DELIVERIES.labels(str(status)).inc(number)


def _class_of(answer: Answer) -> str:
    return f"{answer.status // 100}xx" if answer.status else str(answer.failure)
