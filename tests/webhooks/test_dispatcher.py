"""The whole wheel against real receivers on loopback."""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connections
from django.test import override_settings
from standardwebhooks.webhooks import Webhook

from common import crypto, ids
from common.clock import utc_now
from common.engine.database_thread import DatabaseThread
from common.engine.http import urls
from common.engine.http.client import Client
from tenants.actors import SYSTEM
from tests.builders import make_endpoint, publish
from tests.receivers import answer
from tests.webhooks.dispatching import Clock, deliver
from webhooks import metrics, signing
from webhooks.dispatcher import results
from webhooks.dispatcher.loop import Dispatcher
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services import endpoints
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "whsec_" + "Yg" * 21 + "Y="


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
            rotated.append(
                endpoints.rotate_secret(
                    tenant_id=acme.pk, endpoint_id=endpoint.pk, actor=SYSTEM, now=utc_now()
                ).secret
            )
            connections.close_all()

        def goes_on():
            """While some are under way the loop stands still, until the secret is another."""
            if len(receiver.requests) >= 15 and not rotated:
                rotating = threading.Thread(target=rotate)
                rotating.start()
                rotating.join()
            return True

        deliver(goes_on=goes_on)

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

        assert receiver.paths() == ["/204"]
        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.first_failure_at) == (0, None)

    def test_a_key_it_was_not_given_yet_counts_as_no_try(self, acme, receiver, settings):
        """In the middle of a rotation: another process encrypted the secret with a newer key."""
        newer = "k9:" + base64.b64encode(b"9" * 32).decode()
        old = list(settings.ENCRYPTION_KEYS)
        with override_settings(ENCRYPTION_KEYS=[newer, *old]):
            endpoint = make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        clock = Clock()
        before = metrics.OWN_ERRORS._value.get()

        for _ in range(3):
            deliver(clock=clock)
            clock.now += results.OWN_ERROR_WAIT

        delivery = endpoint.deliveries.get()
        endpoint.refresh_from_db()
        assert (delivery.status, delivery.attempts, delivery.failures) == ("pending", 0, 0)
        assert (delivery.last_error, WebhookAttempt.objects.count()) == ("", 0)
        assert (endpoint.consecutive_failures, endpoint.first_failure_at) == (0, None)
        assert metrics.OWN_ERRORS._value.get() == before + 3

        with override_settings(ENCRYPTION_KEYS=[newer, *old]):
            deliver(clock=clock)

        assert receiver.requests[0].headers["x-webhook-attempt"] == "1"
        assert endpoint.deliveries.get().status == DeliveryStatus.DELIVERED

    def test_keeps_the_order_of_one_payment(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        payment = ids.new("ftx")
        events = [
            publish(acme, payment_id=payment, sequence=number, now=utc_now())
            for number in range(1, 6)
        ]

        deliver()

        assert [request.headers["webhook-id"] for request in receiver.requests] == events


class TestFairness:
    def test_slow_receivers_do_not_delay_the_others(self, acme, rival, receiver):
        for _ in range(5):
            make_endpoint(rival, url=receiver.url("/slow/3"))
        for _ in range(12):
            publish(rival, now=utc_now())
        for _ in range(2):
            make_endpoint(acme, url=receiver.url("/200"))
        for _ in range(60):
            publish(acme, now=utc_now())

        deliver()

        fast = [request.at for request in receiver.requests if request.path == "/200"]
        slow = [request.at for request in receiver.requests if request.path == "/slow/3"]
        assert len(fast) == 120
        assert max(fast) < min(slow) + 3  # before any of the slow ones has answered
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


class Counted(DatabaseThread):
    """Counts what is asked of the database, by the name of the work."""

    def __init__(self):
        super().__init__()
        self.asked: Counter[str] = Counter()

    def run(self, work, *args, **kwargs):
        self.asked[work.__name__] += 1
        return super().run(work, *args, **kwargs)


class TestLittleWork:
    def test_a_lone_delivery_costs_two_claims_and_one_record(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        database = Counted()

        deliver(database=database, linger=0.5)

        assert (database.asked["_claim"], database.asked["record"]) == (2, 1)
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED

    def test_results_are_recorded_together(self, acme, receiver):
        for number in range(5):
            make_endpoint(acme, url=receiver.url(f"/slow/0.{number}"))
        publish(acme, now=utc_now())
        database = Counted()

        deliver(database=database, linger=2)

        assert database.asked["record"] == 1
        assert WebhookAttempt.objects.count() == 5

    def test_nothing_that_is_due_waits_for_a_record(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        for _ in range(35):
            publish(acme, now=utc_now())
        began = time.monotonic()

        deliver(linger=60, goes_on=lambda: len(receiver.requests) < 35)

        assert time.monotonic() - began < 30
        assert WebhookAttempt.objects.count() == 35  # the last ones at the end


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
