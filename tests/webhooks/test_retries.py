"""Retries, for 76 hours, against real receivers on loopback."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from tests.builders import make_endpoint, publish
from tests.receivers import answer
from tests.webhooks.dispatching import Clock, deliver
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "whsec_" + "Yg" * 21 + "Y="


class TestRetry:
    def test_repeats_the_same_bytes_under_the_same_id(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/x"), secret=SECRET)
        receiver.answers["/x"] = [answer(500), answer(503, headers="Retry-After: 90\r\n")]
        receiver.answers["/x"].append(answer(200))
        publish(acme, now=utc_now())
        clock = Clock()

        for _ in range(3):
            deliver(clock=clock)
            clock.now += timedelta(minutes=3)

        first, second, third = receiver.requests
        assert first.body == second.body == third.body
        assert {r.headers["webhook-id"] for r in receiver.requests} == {first.headers["webhook-id"]}
        assert [r.headers["x-webhook-attempt"] for r in receiver.requests] == ["1", "2", "3"]
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED

    def test_obeys_retry_after(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/x"))
        receiver.answers["/x"] = [answer(429, headers="Retry-After: 3600\r\n")]
        publish(acme, now=utc_now())
        clock = Clock()

        deliver(clock=clock)

        delivery = WebhookDelivery.objects.get()
        assert delivery.next_attempt_at == clock.now + timedelta(hours=1)

    def test_follows_the_schedule_for_76_hours_and_gives_up(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/500"))
        publish(acme, now=utc_now())
        clock = Clock()
        started, tries = clock.now, []
        while (delivery := WebhookDelivery.objects.get()).status == DeliveryStatus.PENDING:
            assert delivery.next_attempt_at is not None
            clock.now = max(clock.now, delivery.next_attempt_at)
            tries.append(clock.now - started)
            deliver(clock=clock)

        assert delivery.status == DeliveryStatus.FAILED
        assert (len(tries), len(receiver.requests)) == (11, 11)
        plan = [0, 5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
        for before, after, wait in zip(tries, tries[1:], plan[1:], strict=False):
            assert wait <= (after - before).total_seconds() <= wait * 1.2 + 0.01
        assert timedelta(hours=75) < tries[-1] < timedelta(hours=92)

    def test_gone_switches_the_endpoint_off_and_keeps_what_comes(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/410"))
        publish(acme, now=utc_now())

        deliver()
        publish(acme, now=utc_now())
        deliver()

        endpoint = WebhookEndpoint.objects.get()
        assert (endpoint.status, endpoint.disabled_reason) == (EndpointStatus.DISABLED, "gone")
        assert [d.status for d in WebhookDelivery.objects.all()] == [DeliveryStatus.SKIPPED] * 2
        assert receiver.paths() == ["/410"]

    def test_gone_gets_no_more_than_what_was_in_flight(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/410"))
        for _ in range(6):
            publish(acme, now=utc_now())

        deliver(slots=2)

        assert len(receiver.requests) <= 2
        assert WebhookEndpoint.objects.get().disabled_reason == "gone"
