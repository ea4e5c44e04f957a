"""What a claim hands out, and to whom."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from tenants.actors import SYSTEM
from tests.builders import NOW, make_endpoint, publish
from tests.webhooks.claiming import BROKEN, OK, claim, record
from webhooks.dispatcher import claims
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, LEASE
from webhooks.models import DisabledReason, WebhookDelivery, WebhookEndpoint
from webhooks.services import deliveries
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db


def updates():
    """How many deliveries this transaction updated, and how many of them in place."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'webhooks_webhookdelivery'"
        )
        return cursor.fetchone()


class TestClaim:
    def test_hands_out_everything_a_try_needs(self, acme):
        endpoint = make_endpoint(acme, url="https://hooks.example.com/a")
        event_id = publish(acme)

        (job,) = claim()

        delivery = WebhookDelivery.objects.get()
        assert (job.delivery_id, job.event_id, job.endpoint_id) == (
            delivery.pk, event_id, endpoint.pk,
        )  # fmt: skip
        assert (job.attempt, job.failures, job.lease_version) == (1, 0, 1)
        assert (job.url, job.mode, job.queued_at) == (endpoint.url, "sandbox", NOW)
        assert job.secret_token == endpoint.secret_token
        assert job.body == bytes(delivery.event.body)

    def test_leases_what_it_hands_out(self, acme):
        make_endpoint(acme)
        publish(acme)

        assert len(claim()) == 1
        assert claim() == []

        delivery = WebhookDelivery.objects.get()
        assert (delivery.next_attempt_at, delivery.leased_until) == (NOW, NOW + LEASE)

    def test_writes_no_index(self, acme):
        """HOT: an update that changes no indexed value writes no index."""
        make_endpoint(acme)
        for _ in range(5):
            publish(acme)
        before = updates()

        jobs = claim()
        assert updates() == (before[0] + 5, before[1] + 5)

        record(jobs, OK)
        assert updates() == (before[0] + 10, before[1] + 5)

    def test_takes_again_what_a_dead_dispatcher_left(self, acme):
        make_endpoint(acme)
        publish(acme)
        (first,) = claim()

        (second,) = claim(now=NOW + LEASE)

        assert second.delivery_id == first.delivery_id
        assert (second.attempt, second.failures, second.lease_version) == (2, 0, 2)

    def test_honors_a_lease_that_moved_the_due_time(self, acme):
        """As the versions before migration 0006 took it."""
        make_endpoint(acme)
        publish(acme)
        until = NOW + LEASE
        WebhookDelivery.objects.update(next_attempt_at=until, leased_until=until, lease_version=1)

        assert claim(now=until - timedelta(microseconds=1)) == []
        assert [(job.lease_version, job.is_reclaimed) for job in claim(now=until)] == [(2, True)]

    def test_leaves_what_is_not_due_yet(self, acme):
        make_endpoint(acme)
        publish(acme, now=NOW + timedelta(seconds=1))

        assert claim() == []
        assert len(claim(now=NOW + timedelta(seconds=1))) == 1

    def test_costs_one_statement(self, acme, django_assert_num_queries):
        make_endpoint(acme)
        publish(acme)

        with django_assert_num_queries(1):
            assert len(claim()) == 1

    def test_of_an_empty_queue_is_empty(self):
        assert claims.claim(slots=10, retry_slots=5, now=NOW) == claims.Claim([], "", parked=0)


class TestSwitchedOff:
    @pytest.fixture
    def off(self, acme):
        return make_endpoint(
            acme, status=EndpointStatus.DISABLED, disabled_reason=DisabledReason.TENANT
        )

    def test_gets_nothing(self, acme):
        make_endpoint(acme)
        publish(acme)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert claim() == []

    def test_gets_what_somebody_asked_for(self, acme, off):
        publish(acme)
        delivery = WebhookDelivery.objects.get()

        deliveries.resend(tenant_id=acme.pk, delivery_id=delivery.pk, actor=SYSTEM, now=NOW)

        assert [job.is_manual for job in claim()] == [True]

    def test_gets_what_was_asked_for_after_a_dispatcher_died(self, acme):
        make_endpoint(acme)
        publish(acme)
        (left,) = claim()
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")
        over = NOW + LEASE

        deliveries.resend(tenant_id=acme.pk, delivery_id=left.delivery_id, actor=SYSTEM, now=over)

        assert deliveries.put_aside(now=over) == 0
        assert record([left], BROKEN, now=over) == set()
        assert [(job.is_manual, job.attempt) for job in claim(now=over)] == [(True, 2)]

    def test_gets_no_more_than_ten_at_a_time_of_what_somebody_asked_for(self, acme):
        """Behind as many as nobody has taken out of the queue yet."""
        make_endpoint(acme)
        for _ in range(41):
            publish(acme)
        later = NOW + timedelta(seconds=1)
        asked_for = [publish(acme, now=later) for _ in range(12)]
        WebhookDelivery.objects.filter(event_id__in=asked_for).update(is_manual=True)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert len(claim(now=later)) == IN_FLIGHT_PER_ENDPOINT
        assert claim(now=later) == []


class TestRemoved:
    def test_gets_nothing_not_even_what_somebody_asked_for(self, acme):
        make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(is_manual=True)
        WebhookEndpoint.objects.update(status="removed", removed_at=NOW, secret_token="")

        assert claim() == []
        assert deliveries.put_aside(now=NOW) == 1
        assert WebhookDelivery.objects.get().status == DeliveryStatus.CANCELED
