"""What a claim and a recording do, row by row in plain ORM: slow, one process at a time, and simple
enough to be judged by reading. The property tests hold the SQL statements against it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import timedelta

from tenants.switches import Switch
from webhooks.dispatcher.claims import (
    _LOOK_AHEAD,
    _WALK_MIN,
    BREAKER_FAILURES,
    ENDPOINTS_PER_CLAIM,
    IN_FLIGHT_PER_ENDPOINT,
    ORDER_WAIT,
    RETRY_FROM_FAILURES,
)
from webhooks.dispatcher.results import PAUSE_SECONDS_MAX, RESPONSE_BYTES_KEPT
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint

MINUTE = timedelta(minutes=1)


@dataclass
class Plan:
    """What a claim should do. `turns`: (turn of its endpoint, delivery) of what may be sent;
    `parked`: what is put off, with the delivery it waits for."""

    turns: list[tuple[int, WebhookDelivery]] = field(default_factory=list)
    parked: dict[str, str] = field(default_factory=dict)
    resume_after: str = ""

    def numbers(self, *, slots, retry_slots):
        """The turns that are dealt: low ones first, late retries in their part of the slots only.

        Which endpoints get the last slots is open where several have the same turn.
        """
        retries = sorted(number for number, row in self.turns if is_late_retry(row))
        first = [number for number, row in self.turns if not is_late_retry(row)]
        return sorted([*first, *retries[:retry_slots]])[:slots]


def is_late_retry(row):
    return row.failures >= RETRY_FROM_FAILURES


def plan(*, slots, after, now):
    """Walk from endpoint to endpoint; deal each ready one its share."""
    walked: list[WebhookEndpoint] = []
    ready: list[WebhookEndpoint] = []
    most_walked, most_ready = max(2 * slots, _WALK_MIN), min(slots, ENDPOINTS_PER_CLAIM)
    for endpoint in WebhookEndpoint.objects.filter(pk__gt=after).order_by("pk"):
        if not queue_of(endpoint):
            continue
        if len(walked) == most_walked or len(ready) == most_ready:
            break
        walked.append(endpoint)
        if is_ready(endpoint, now):
            ready.append(endpoint)
    made = Plan()
    for endpoint in ready:
        share = min(allowance(endpoint, now), math.ceil(1.5 * slots / len(ready)))
        take_share(made, endpoint, share, now)
    if len(ready) == most_ready:
        made.resume_after = ready[-1].pk
    elif len(walked) == most_walked:
        made.resume_after = walked[-1].pk
    return made


def queue_of(endpoint):
    """What is to be sent to an endpoint, in order."""
    pending = WebhookDelivery.objects.filter(endpoint=endpoint, status="pending")
    return list(pending.order_by("next_attempt_at", "pk"))


def due_of(endpoint, now):
    return [row for row in queue_of(endpoint) if row.next_attempt_at <= now]


def is_leased(row, now):
    return row.leased_until is not None and row.leased_until > now


def is_ready(endpoint, now):
    stops = Switch.objects.filter(kind="webhooks", released_at=None)
    return (
        endpoint.status != "removed"
        and any(not is_leased(row, now) for row in due_of(endpoint, now))
        and not any(stop.tenant_id in {None, endpoint.tenant_id} for stop in stops)
        and allowance(endpoint, now) > 0
    )


def allowance(endpoint, now):
    """How many more may be in flight. Those in flight are among the oldest due ones."""
    oldest = due_of(endpoint, now)
    if endpoint.status == "enabled":
        oldest = oldest[: _LOOK_AHEAD * IN_FLIGHT_PER_ENDPOINT]
    in_flight = sum(is_leased(row, now) for row in oldest)
    if endpoint.consecutive_failures < BREAKER_FAILURES:
        return IN_FLIGHT_PER_ENDPOINT - in_flight
    pauses = endpoint.paused_until is not None and endpoint.paused_until > now
    return 0 if in_flight or pauses else 1


def take_share(made, endpoint, share, now):
    """Its oldest due rows up to its share, each to be sent or parked."""
    free = [
        row
        for row in due_of(endpoint, now)
        if not is_leased(row, now) and (endpoint.status == "enabled" or row.is_manual)
    ]
    taken = 0
    for row in free[: _LOOK_AHEAD * share]:
        if taken == share:
            break
        earlier = earlier_of(row) if row.queued_at > now - ORDER_WAIT else None
        if earlier is None:
            made.turns.append((1 + sum(r.endpoint_id == endpoint.pk for _, r in made.turns), row))
        elif is_leased(earlier, now) or earlier.next_attempt_at <= row.next_attempt_at:
            continue  # it takes no turn: the earlier one is being sent, or is found before it
        else:
            made.parked[row.pk] = earlier.pk
        taken += 1


def earlier_of(row):
    """The first delivery of the same payment that has to end before `row` may be sent."""
    pending = WebhookDelivery.objects.filter(
        endpoint_id=row.endpoint_id, payment_id=row.payment_id, status="pending"
    ).exclude(payment_id="")
    return pending.filter(sequence__lt=row.sequence).order_by("sequence").first()


def record(results, now):
    """Write down each result in turn; returns the deliveries whose result counted."""
    counted, ended = [], []
    for result in results:
        row = WebhookDelivery.objects.filter(pk=result.job.delivery_id).first()
        if row is None:
            continue
        add_attempt(result)
        if (
            row.status == "pending"
            and row.leased_until is not None
            and row.lease_version == result.job.lease_version
        ):
            finish_try(row, result, now)
            counted.append((row, result))
            ended += [row] if row.status != "pending" else []
    for endpoint_id in {row.endpoint_id for row, _ in counted}:
        tries = [pair for pair in counted if pair[0].endpoint_id == endpoint_id]
        count_for_endpoint(endpoint_id, tries, now)
    for row in ended:
        let_go(row, now)
    return {row.pk for row, _ in counted}


def add_attempt(result):
    job, answer = result.job, result.answer
    WebhookAttempt.objects.get_or_create(
        delivery_id=job.delivery_id,
        number=job.attempt,
        defaults={
            "status_code": answer.status,
            "error": answer.failure or "",
            "response": answer.body.decode()[:RESPONSE_BYTES_KEPT],
            "response_headers": [list(pair) for pair in answer.headers],
            "duration_ms": answer.duration_ms,
            "started_at": result.started_at,
        },
    )


def finish_try(row, result, now):
    row.status, row.next_attempt_at = result.outcome.status, result.outcome.next_attempt_at
    row.leased_until = None
    row.last_status_code, row.last_error = result.answer.status, result.answer.failure or ""
    row.delivered_at = now if row.status == "delivered" else None
    row.failures += row.status != "delivered"
    row.save()


def count_for_endpoint(endpoint_id, tries, now):
    """Its failures since the last success. What somebody asked for cannot fail it."""
    endpoint = WebhookEndpoint.objects.get(pk=endpoint_id)
    before = (endpoint.consecutive_failures, endpoint.last_success_at)
    succeeded, failed = False, False
    for row, result in tries:
        if row.status == "delivered":
            succeeded, failed = True, False
            endpoint.consecutive_failures, endpoint.first_failure_at = 0, None
            endpoint.warnings_sent, endpoint.last_success_at = 0, now
        elif not row.is_manual:
            failed = True
            endpoint.consecutive_failures += 1
            since = endpoint.first_failure_at or result.started_at
            endpoint.first_failure_at = (
                since if before[0] and not succeeded else min(since, result.started_at)
            )
    was_fine_lately = before[0] == 0 and before[1] is not None and before[1] >= now - MINUTE
    if not (failed or succeeded) or (was_fine_lately and not failed):
        return  # a success each second is not written each second
    excess = endpoint.consecutive_failures - BREAKER_FAILURES
    pause = timedelta(seconds=min(PAUSE_SECONDS_MAX, 2 ** min(max(excess, 0), 10)))
    endpoint.paused_until = now + pause if excess >= 0 else None
    endpoint.save()


def let_go(ended, now):
    """Make due what was parked behind a delivery that is over."""
    if not ended.payment_id:
        return
    parked = WebhookDelivery.objects.filter(
        endpoint_id=ended.endpoint_id,
        payment_id=ended.payment_id,
        sequence__gt=ended.sequence,
        status="pending",
        leased_until=None,
        is_parked=True,
    )
    for row in parked:
        row.is_parked, row.next_attempt_at = False, min(row.next_attempt_at, now)
        row.save()
