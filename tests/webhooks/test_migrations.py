"""What 0010 finds is the queue of the last release, which knew a parked delivery by its time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from common import database_clock, ids
from tests.builders import NOW, make_endpoint, publish
from tests.funding.test_migrations import migrate
from tests.webhooks.claiming import BROKEN, OK, claim, record
from webhooks.dispatcher.claims import LEASE, ORDER_WAIT
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db
SOON = NOW + timedelta(seconds=5)


def test_marks_what_is_parked_and_nothing_else(acme):
    make_endpoint(acme)
    payment = ids.new("ftx")
    publish(acme, payment_id=payment, sequence=1)
    record(claim(), BROKEN)
    parked = publish(acme, payment_id=payment, sequence=2)
    assert claim() == []
    publish(acme, payment_id=ids.new("ftx"))
    leased = publish(acme, payment_id=ids.new("ftx"))
    WebhookDelivery.objects.filter(event_id=leased).update(
        next_attempt_at=NOW + ORDER_WAIT, leased_until=NOW + LEASE
    )
    WebhookDelivery.objects.update(is_parked=False)

    migrate(("webhooks", "0009_parked"))
    migrate(("webhooks", "0010_mark_parked"))

    assert [row.event_id for row in WebhookDelivery.objects.filter(is_parked=True)] == [parked]
    record(claim(now=SOON), OK, now=SOON)
    assert parked in {job.event_id for job in claim(now=SOON)}


def test_what_the_last_release_publishes_is_not_parked(acme):
    """Its insert does not know the column."""
    make_endpoint(acme)

    publish(acme)

    assert WebhookDelivery.objects.get().is_parked is False


def test_the_audit_bears_with_a_mark_that_the_last_release_left(acme):
    """Its dispatcher sends what is marked, knows no mark, and tries again after a failure."""
    make_endpoint(acme)
    publish(acme)
    WebhookDelivery.objects.update(
        is_parked=True, attempts=1, failures=1, next_attempt_at=NOW + timedelta(minutes=5)
    )

    with database_clock.at(NOW):
        found = {finding.code for finding in invariants.check(now=NOW).findings}

    assert "delivery_parked_alone" not in found
