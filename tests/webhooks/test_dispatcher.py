"""The whole wheel against real receivers on loopback."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connections
from django.test import override_settings
from standardwebhooks.webhooks import Webhook
from structlog.testing import capture_logs

from common import crypto, ids
from common.clock import utc_now
from common.http import urls
from common.http.client import Client
from tenants.actors import SYSTEM
from tests.builders import make_endpoint, publish
from tests.receivers import ALLOWED, Receiver, answer
from webhooks import signing
from webhooks.dispatcher import claims, heartbeats, loop, results, runs
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT
from webhooks.dispatcher.database import DatabaseThread
from webhooks.dispatcher.loop import Dispatcher
from webhooks.models import (
    DispatcherHeartbeat,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from webhooks.services import endpoints
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "whsec_" + "Yg" * 21 + "Y="


@pytest.fixture(autouse=True)
def development(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


def deliver(*, clock=utc_now, total_seconds=15.0, slots=256, goes_on=lambda: True):
    """Run a dispatcher until nothing is due."""

    async def run():
        database = DatabaseThread()
        async with Client(urls.policy(), total_seconds=total_seconds) as client:
            dispatcher = Dispatcher(
                name=None, client=client, database=database, slots=slots, clock=clock
            )
            await dispatcher.run(goes_on=goes_on, until_idle=True)
        await database.close()

    asyncio.run(run())


class TestDelivery:
    def test_sends_the_frozen_bytes_with_both_signatures(self, acme, receiver):
        make_endpoint(acme, url=receiver.url(), secret=SECRET)
        event_id = publish(acme, now=utc_now())

        deliver()

        (request,) = receiver.requests
        assert request.body == bytes(WebhookEvent.objects.get().body)
        assert request.headers["x-webhook-signature"] == signing.hex_signature(SECRET, request.body)
        assert Webhook(SECRET).verify(request.body, request.headers)["id"] == event_id
        assert request.headers["webhook-id"] == event_id
        assert request.headers["x-webhook-attempt"] == "1"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["user-agent"] == "Ballast-Webhooks/1.0"
        assert "x-webhook-signature-previous" not in request.headers

    def test_signs_with_both_secrets_during_a_rotation(self, acme, receiver):
        endpoint = make_endpoint(acme, url=receiver.url(), secret=SECRET)
        old = signing.new_secret()
        WebhookEndpoint.objects.update(
            previous_secret_token=crypto.encrypt(old, context=endpoint.encryption_context),
            previous_secret_expires_at=utc_now() + timedelta(hours=1),
        )
        publish(acme, now=utc_now())

        deliver()

        (request,) = receiver.requests
        assert request.headers["x-webhook-signature-previous"] == signing.hex_signature(
            old, request.body
        )
        for secret in (SECRET, old):
            Webhook(secret).verify(request.body, request.headers)

    def test_keeps_what_the_receiver_answered_but_not_its_cookies(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        receiver.answers["/200"] = [
            answer(200, body=b"ok", headers="Server: own\r\nSet-Cookie: a=b\r\nX-Odd: \xff\r\n")
        ]
        publish(acme, now=utc_now())

        deliver()

        attempt = WebhookAttempt.objects.get()
        assert attempt.response == "ok"
        assert [name for name, _ in attempt.response_headers] == [
            "Server",
            "X-Odd",
            "Content-Length",
        ]

    def test_a_rotation_in_the_middle_costs_no_receiver_a_signature(self, acme, receiver):
        endpoint = make_endpoint(acme, url=receiver.url("/slow/0.02"), secret=SECRET)
        for _ in range(60):
            publish(acme, now=utc_now())
        rotated = []

        def rotate():
            while len(receiver.requests) < 15:
                time.sleep(0.005)
            rotated.append(
                endpoints.rotate_secret(
                    tenant_id=acme.pk, endpoint_id=endpoint.pk, actor=SYSTEM, now=utc_now()
                ).secret
            )
            connections.close_all()

        rotating = threading.Thread(target=rotate)
        rotating.start()
        deliver()
        rotating.join()

        assert len(receiver.requests) == 60
        for request in receiver.requests:
            Webhook(SECRET).verify(request.body, request.headers)
        last = receiver.requests[-1]
        assert Webhook(rotated[0]).verify(last.body, last.headers)

    @pytest.mark.parametrize(
        ("path", "status", "code", "error"),
        [
            ("/200", DeliveryStatus.DELIVERED, 200, ""),
            ("/204", DeliveryStatus.DELIVERED, 204, ""),
            ("/endless-body", DeliveryStatus.DELIVERED, 200, ""),
            ("/301", DeliveryStatus.PENDING, 301, ""),
            ("/400", DeliveryStatus.PENDING, 400, ""),
            ("/429", DeliveryStatus.PENDING, 429, ""),
            ("/500", DeliveryStatus.PENDING, 500, ""),
            ("/reset", DeliveryStatus.PENDING, None, "disconnected"),
            ("/garbage", DeliveryStatus.PENDING, None, "invalid_response"),
            ("/silent", DeliveryStatus.PENDING, None, "timeout"),
            ("/drip-body", DeliveryStatus.PENDING, None, "timeout"),
        ],
    )
    def test_records_what_the_receiver_did(self, acme, receiver, path, status, code, error):
        make_endpoint(acme, url=receiver.url(path))
        publish(acme, now=utc_now())

        deliver(total_seconds=0.5)

        delivery = WebhookDelivery.objects.get()
        assert (delivery.status, delivery.last_status_code, delivery.last_error) == (
            status, code, error,
        )  # fmt: skip
        attempt = WebhookAttempt.objects.get()
        assert (attempt.status_code, attempt.error) == (code, error)
        assert receiver.paths() == [path]

    def test_refuses_an_endpoint_whose_address_is_no_longer_allowed(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())

        with override_settings(WEBHOOK_ALLOWED_NETWORKS=[]):
            deliver()

        assert WebhookDelivery.objects.get().last_error == "url_not_allowed"
        assert receiver.connections == 0

    def test_survives_a_secret_it_cannot_read(self, acme, receiver):
        endpoint = make_endpoint(acme, url=receiver.url())
        make_endpoint(acme, url=receiver.url("/204"))
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(secret_token="gone:AAAA")
        publish(acme, now=utc_now())

        deliver()

        assert endpoint.deliveries.get().last_error == "internal_error"
        assert receiver.paths() == ["/204"]

    def test_keeps_the_order_of_one_payment(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        payment = ids.new("ftx")
        events = [
            publish(acme, payment_id=payment, sequence=number, now=utc_now())
            for number in range(1, 6)
        ]

        deliver()

        assert [request.headers["webhook-id"] for request in receiver.requests] == events


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


class TestFairness:
    def test_slow_receivers_do_not_delay_the_others(self, acme, rival, receiver):
        for _ in range(5):
            make_endpoint(rival, url=receiver.url("/slow/1.5"))
        for _ in range(12):
            publish(rival, now=utc_now())
        for _ in range(2):
            make_endpoint(acme, url=receiver.url("/200"))
        for _ in range(60):
            publish(acme, now=utc_now())
        started = time.monotonic()

        deliver()

        fast = [request.at - started for request in receiver.requests if request.path == "/200"]
        assert len(fast) == 120
        assert max(fast) < 1.4
        assert not WebhookDelivery.objects.exclude(status=DeliveryStatus.DELIVERED).exists()

    def test_takes_no_more_than_its_slots(self, acme, receiver):
        for _ in range(3):
            make_endpoint(acme, url=receiver.url("/slow/0.2"))
        for _ in range(3):
            publish(acme, now=utc_now())

        deliver(slots=2)

        arrivals = sorted(request.at for request in receiver.requests)
        assert len(arrivals) == 9
        assert arrivals[-1] - arrivals[0] > 0.7  # nine of 0.2 s, two at a time


class TestRecording:
    def test_that_fails_is_made_up_for_before_more_is_sent(self, acme, receiver, monkeypatch):
        make_endpoint(acme, url=receiver.url())
        for _ in range(12):
            publish(acme, now=utc_now())
        sent, record = [], results.record

        def busy_for_a_while(batch, *, now):
            sent.append(len(receiver.requests))
            if len(sent) <= 5:
                raise OperationalError("canceling statement due to lock timeout")
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", busy_for_a_while)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)

        deliver(slots=2)

        assert sent[5] <= 4  # what was being sent, and what was claimed meanwhile
        assert len(receiver.requests) == WebhookAttempt.objects.count() == 12

    def test_takes_half_of_what_is_under_way_at_a_time(self, acme, receiver, monkeypatch):
        for _ in range(20):
            make_endpoint(acme, url=receiver.url())
        for _ in range(IN_FLIGHT_PER_ENDPOINT):
            publish(acme, now=utc_now())
        sizes: list[int] = []
        record = results.record

        def slow_at_first(batch, *, now):
            if not sizes:
                while len(receiver.requests) < 200:
                    time.sleep(0.01)
                time.sleep(0.2)
            sizes.append(len(batch))
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", slow_at_first)

        deliver()

        assert sum(sizes) == 200
        assert max(sizes) <= 100

    def test_claims_half_of_its_slots_at_a_time(self, acme, receiver, monkeypatch):
        for _ in range(3):
            make_endpoint(acme, url=receiver.url())
        for _ in range(5):
            publish(acme, now=utc_now())
        sizes: list[int] = []
        claim = claims.claim

        def noted(**values):
            claimed = claim(**values)
            sizes.append(len(claimed.jobs))
            return claimed

        monkeypatch.setattr(claims, "claim", noted)

        deliver(slots=8)

        assert sum(sizes) == 15
        assert max(sizes) == 4


class TestStop:
    @pytest.fixture
    def busy(self, monkeypatch):
        """A database that cannot record until the list is empty."""
        refusals: list[None] = []
        record = results.record

        def refuse(batch, *, now):
            if refusals:
                refusals.pop()
                raise OperationalError("canceling statement due to lock timeout")
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", refuse)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)
        return refusals

    def test_tries_again_to_record_what_was_sent(self, acme, receiver, busy):
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        publish(acme, now=utc_now())
        busy += [None] * 3

        deliver(goes_on=lambda: not receiver.requests)

        assert (busy, len(receiver.requests)) == ([], 1)
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED

    def test_ends_in_time_and_says_what_it_lost(self, acme, receiver, busy, monkeypatch):
        monkeypatch.setattr(loop, "_FINISH_SECONDS", 0.5)
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        publish(acme, now=utc_now())
        busy += [None] * 1_000

        with capture_logs() as logs:
            deliver(goes_on=lambda: not receiver.requests)

        assert [(line["event"], line["count"]) for line in logs if "count" in line] == [
            ("results_lost", 1)
        ]
        assert len(busy) > 900


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
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        for _ in range(60):
            publish(acme, now=utc_now())
        started = time.monotonic()

        runs.burst(seconds=0.3)

        assert time.monotonic() - started < 1.5
        pending = WebhookDelivery.objects.filter(status=DeliveryStatus.PENDING)
        assert 0 < pending.count() < 60
        assert not pending.exclude(leased_until=None).exists()


class TestDatabaseOutage:
    def test_is_waited_for_and_no_result_is_lost(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/slow/0.3"))
        publish(acme, now=utc_now())

        async def run():
            database = DatabaseThread()
            async with Client(urls.policy()) as client:
                dispatcher = Dispatcher(name=None, client=client, database=database)
                working = asyncio.create_task(dispatcher.run(goes_on=lambda: True, until_idle=True))
                while not receiver.requests:
                    await asyncio.sleep(0.01)
                await database.run(cut_own_connection)
                await working
            await database.close()

        asyncio.run(run())

        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED
        assert len(receiver.requests) == 1


def cut_own_connection():
    """What a restart of PostgreSQL looks like from inside a connection."""
    connections["default"].connection.close()


class Clock:
    def __init__(self):
        self.now = utc_now()

    def __call__(self):
        return self.now
