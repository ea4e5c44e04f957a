"""Tasks that deliver where no dispatcher is alive."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from tests.builders import make_endpoint, publish
from webhooks.dispatcher import heartbeats, runs
from webhooks.models import DispatcherHeartbeat, WebhookDelivery
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)


class TestBurst:
    def test_delivers_where_no_dispatcher_is_alive(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())

        assert runs.burst_if_alone(now=utc_now())

        assert receiver.paths() == ["/200"]
        assert not DispatcherHeartbeat.objects.exists()

    def test_leaves_the_work_to_a_living_dispatcher(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        heartbeats.beat(name="host:1", now=utc_now())

        assert not runs.burst_if_alone(now=utc_now())

        assert receiver.requests == []

    def test_takes_over_from_a_dead_one(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        heartbeats.beat(name="host:1", now=utc_now() - heartbeats.FRESH_FOR)

        assert runs.burst_if_alone(now=utc_now())

        assert receiver.paths() == ["/200"]

    def test_is_one_at_a_time(self):
        now = utc_now()

        assert heartbeats.take_burst(now=now)
        assert not heartbeats.take_burst(now=now)
        assert heartbeats.take_burst(now=now + heartbeats.FRESH_FOR)

    def test_ends_in_time_under_a_stream_of_work(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/slow/0.5"))
        for _ in range(60):
            publish(acme, now=utc_now())

        runs.burst(seconds=1.5)  # all of them take 3 s, ten at a time

        pending = WebhookDelivery.objects.filter(status=DeliveryStatus.PENDING)
        assert 0 < pending.count() < 60
        assert not pending.exclude(leased_until=None).exists()
