"""Many dispatchers on one queue, and changes of an endpoint in the middle."""

from __future__ import annotations

import random
import time
from collections import Counter
from datetime import datetime, timedelta

import pytest

from common import ids
from common.clock import utc_now
from common.engine.http.client import Answer
from tenants.actors import SYSTEM
from tests.builders import make_endpoint, make_tenant, publish
from tests.races.together import together
from webhooks.dispatcher import claims, outcomes, results
from webhooks.errors import TooManyWebhooks
from webhooks.models import (
    ENDPOINTS_PER_TENANT_MAX,
    DisabledReason,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
)
from webhooks.services import endpoints
from webhooks.services.urls import CheckedUrl
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)

WORKERS = 8


def work(jobs, rng, *, failing=0.0):
    """Answer every job as a receiver would."""
    now = utc_now()
    done = []
    for job in jobs:
        answer = Answer(status=500 if rng.random() < failing else 200)
        outcome = outcomes.judge(answer, failures=job.failures, jitter=0.0, now=now)
        done.append(results.Result(job=job, answer=answer, outcome=outcome, started_at=now))
    return results.record(done, now=utc_now()) if done else set()


def drain(worker, claimed, *, failing=0.0, seconds=300.0):
    """Claim and record until nothing is pending; notes who claimed what."""
    rng, end, after = random.Random(worker), time.monotonic() + seconds, ""
    while time.monotonic() < end:
        claim = claims.claim(slots=25, retry_slots=25, after=after, now=utc_now())
        after = claim.resume_after
        claimed[worker].extend(job.delivery_id for job in claim.jobs)
        work(claim.jobs, rng, failing=failing)
        pending = WebhookDelivery.objects.filter(status=DeliveryStatus.PENDING)
        if not claim.jobs and not pending.exists():
            return
    raise AssertionError("the queue never became empty")


def drain_together(**options):
    claimed: list[list[str]] = [[] for _ in range(WORKERS)]
    outcomes_ = together(lambda worker: drain(worker, claimed, **options), workers=WORKERS)
    assert [error for error in outcomes_ if error is not None] == []
    return claimed


@pytest.mark.parametrize(
    "events",
    [40, pytest.param(400, marks=[pytest.mark.slow, pytest.mark.timeout(600)])],
    ids=["small", "4000"],
)
def test_8_dispatchers_claim_each_delivery_once(events):
    tenant = make_tenant()
    for _ in range(10):
        make_endpoint(tenant)
    for _ in range(events):
        publish(tenant, now=utc_now())

    claimed = drain_together()

    count = Counter(delivery for own in claimed for delivery in own)
    assert (len(count), set(count.values())) == (events * 10, {1})
    assert WebhookAttempt.objects.count() == events * 10
    delivered = WebhookDelivery.objects.filter(status=DeliveryStatus.DELIVERED)
    assert delivered.count() == events * 10


def test_a_batch_recorded_by_8_at_once_counts_once():
    """The first recording may still be committing while the second one begins."""
    tenant = make_tenant()
    for _ in range(5):
        make_endpoint(tenant)
    for _ in range(8):
        publish(tenant, now=utc_now())
    jobs = claims.claim(slots=40, retry_slots=40, now=utc_now()).jobs

    counted = together(
        lambda worker: work(jobs, random.Random(worker), failing=1.0), workers=WORKERS
    )

    assert sorted(map(len, counted)) == [0] * (WORKERS - 1) + [40]
    assert set(WebhookEndpoint.objects.values_list("consecutive_failures", flat=True)) == {8}
    assert set(WebhookDelivery.objects.values_list("failures", "attempts")) == {(1, 1)}
    assert WebhookAttempt.objects.count() == 40


def test_events_of_a_payment_are_never_overtaken(monkeypatch):
    """Half of the tries fail and wait 50 ms, so that much is parked and let go under way."""
    monkeypatch.setattr(outcomes, "SCHEDULE", (timedelta(milliseconds=50),) * 100)
    monkeypatch.setattr(claims, "BREAKER_FAILURES", 10_000)
    monkeypatch.setattr(results, "BREAKER_FAILURES", 10_000)
    tenant = make_tenant()
    make_endpoint(tenant)
    make_endpoint(tenant)
    payments = [ids.new("ftx") for _ in range(15)]
    for sequence in range(1, 5):
        for payment in payments:
            publish(tenant, payment_id=payment, sequence=sequence, now=utc_now())

    drain_together(failing=0.5)

    rows = WebhookDelivery.objects.order_by("endpoint_id", "payment_id", "sequence")
    finished: dict[tuple[str, str], list[datetime]] = {}
    for row in rows:
        mine = finished.setdefault((row.endpoint_id, row.payment_id), [])
        assert row.delivered_at is not None
        mine.append(row.delivered_at)
        first = row.attempt_log.earliest("number")
        assert len(mine) == 1 or first.started_at >= mine[-2]
    assert len(finished) == 30
    assert all(times == sorted(times) for times in finished.values())


def test_registering_at_once_never_exceeds_twenty():
    tenant = make_tenant()
    for _ in range(ENDPOINTS_PER_TENANT_MAX - 3):
        make_endpoint(tenant)

    answers = together(
        lambda _: endpoints.register(
            tenant_id=tenant.pk,
            url=CheckedUrl("https://hooks.example.com/"),
            events=["*"],
            actor=SYSTEM,
            now=utc_now(),
        ),
        workers=8,
    )

    assert sum(isinstance(answer, TooManyWebhooks) for answer in answers) == 5
    assert WebhookEndpoint.objects.filter(tenant=tenant).count() == ENDPOINTS_PER_TENANT_MAX


def test_switching_off_in_the_middle_loses_nothing():
    tenant = make_tenant()
    endpoint = make_endpoint(tenant)
    for _ in range(60):
        publish(tenant, now=utc_now())
    claimed: list[list[claims.Job]] = [[] for _ in range(WORKERS)]

    def act(worker):
        if worker == 0:
            return endpoints.disable(
                tenant_id=tenant.pk,
                endpoint_id=endpoint.pk,
                reason=DisabledReason.TENANT,
                actor=SYSTEM,
                now=utc_now(),
            )
        jobs = claims.claim(slots=2, retry_slots=2, now=utc_now()).jobs
        claimed[worker].extend(jobs)
        return work(jobs, random.Random(worker))

    answers = together(act, workers=WORKERS)

    assert not [answer for answer in answers if isinstance(answer, Exception)]
    by_status = Counter(endpoint.deliveries.values_list("status", flat=True))
    sent = sum(map(len, claimed))
    assert by_status[DeliveryStatus.DELIVERED] == sent
    assert by_status[DeliveryStatus.SKIPPED] + by_status[DeliveryStatus.PENDING] == 60 - sent
