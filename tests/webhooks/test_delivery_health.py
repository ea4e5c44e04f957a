from __future__ import annotations

from datetime import timedelta

import pytest

from tests.builders import NOW, make_endpoint, publish
from webhooks.delivery_health import Health, Outcome, health_of
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def delivered(tenant, *, ago=HOUR, status="delivered", attempts=1, failures=0):
    """One delivery to each of the tenant's endpoints, as it stands."""
    event_id = publish(tenant, now=NOW - ago)
    WebhookDelivery.objects.filter(event_id=event_id).update(
        status=status,
        attempts=attempts,
        failures=failures,
        next_attempt_at=NOW if status == "pending" else None,
    )


def test_says_how_each_delivery_stands_oldest_first(acme):
    endpoint = make_endpoint(acme)
    delivered(acme, ago=6 * HOUR)
    delivered(acme, ago=5 * HOUR, attempts=3, failures=2)
    delivered(acme, ago=4 * HOUR, status="failed", attempts=11, failures=11)
    delivered(acme, ago=3 * HOUR, status="pending", attempts=2, failures=2)
    delivered(acme, ago=2 * HOUR, status="pending", attempts=0)
    delivered(acme, ago=1 * HOUR, status="skipped", attempts=0)

    health = health_of([endpoint.pk], now=NOW)[endpoint.pk]

    assert health.outcomes == (
        Outcome.DELIVERED,
        Outcome.LATE,
        Outcome.FAILED,
        Outcome.RETRYING,
        Outcome.WAITING,
        Outcome.UNSENT,
    )
    assert (health.delivered, health.tried) == (2, 4)


def test_counts_one_day_and_shows_a_hundred(acme):
    endpoint = make_endpoint(acme)
    for number in range(103):
        delivered(acme, ago=(30 if number < 100 else 23) * HOUR)

    health = health_of([endpoint.pk], now=NOW)[endpoint.pk]

    assert len(health.outcomes) == 100
    assert (health.delivered, health.tried) == (3, 3)


def test_tells_endpoints_apart_in_one_query(acme, rival, django_assert_num_queries):
    mine, theirs = make_endpoint(acme), make_endpoint(rival)
    delivered(acme)

    with django_assert_num_queries(1):
        found = health_of([mine.pk, theirs.pk], now=NOW)

    assert found == {mine.pk: Health((Outcome.DELIVERED,), 1, 1), theirs.pk: Health()}
