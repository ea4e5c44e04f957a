"""The dispatcher as a process: killed, stopped, and without Valkey."""

from __future__ import annotations

import random
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F

from common.clock import utc_now
from common.database import jobs
from tests.builders import make_endpoint, make_tenant, publish
from tests.database import owner
from tests.receivers import Receiver
from tests.scenarios.product import running, wait_until
from tests.settings import TEST_SUPERUSER
from webhooks import signing
from webhooks.dispatcher.claims import LEASE
from webhooks.dispatcher.loop import POLL_SECONDS
from webhooks.models import DispatcherHeartbeat, WebhookAttempt, WebhookDelivery
from webhooks.states import DeliveryStatus

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

SECRET = "whsec_" + "Yg" * 21 + "Y="
SOON = 90  # seconds
# Tests themselves log in as a superuser.
LOGINS = """
SELECT DISTINCT usename FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND usename <> %s
"""


@pytest.fixture
def receiver():
    with Receiver() as server:
        yield server


def publish_many(tenant, count):
    return {publish(tenant, now=utc_now()) for _ in range(count)}


def expire_leases():
    """What a minute of waiting would do."""
    WebhookDelivery.objects.filter(leased_until__isnull=False).update(
        leased_until=F("leased_until") - LEASE
    )


def all_delivered():
    return not WebhookDelivery.objects.exclude(status=DeliveryStatus.DELIVERED).exists()


def has_started():
    return DispatcherHeartbeat.objects.exists()


def wait_for_requests(receiver, count):
    wait_until(lambda: len(receiver.requests) >= count, seconds=SOON, every=0.002)


def kill_while_delivering(folder, receiver, *, deliveries, kills):
    """SIGKILL a dispatcher again and again until everything has arrived."""
    rng = random.Random(7)
    with running(folder, 0, "dispatcher") as product:
        for _ in range(kills):
            goal = len(receiver.requests) + rng.randrange(1, deliveries // kills)
            wait_for_requests(receiver, goal)
            product.kill("dispatcher")
            assert not all_delivered(), "killed too late to prove anything"
            expire_leases()
            product.start("dispatcher")
        wait_until(all_delivered, seconds=2 * SOON)


def assert_at_least_once(receiver, events, *, endpoints, duplicates_max):
    arrivals = Counter(request.headers["webhook-id"] for request in receiver.requests)
    assert set(arrivals) == events
    assert min(arrivals.values()) >= endpoints
    assert sum(arrivals.values()) - endpoints * len(events) <= duplicates_max
    assert len({(r.headers["webhook-id"], r.body) for r in receiver.requests}) == len(events)
    for request in receiver.requests:
        expected = signing.hex_signature(SECRET, request.body)
        assert request.headers["x-webhook-signature"] == expected


def test_kill_9_loses_nothing(receiver, tmp_path):
    tenant = make_tenant()
    make_endpoint(tenant, url=receiver.url("/slow/0.02"), secret=SECRET)
    events = publish_many(tenant, 300)

    kill_while_delivering(tmp_path, receiver, deliveries=300, kills=2)

    assert_at_least_once(receiver, events, endpoints=1, duplicates_max=2 * 20)


def test_20_kills_during_4000_deliveries_lose_nothing(receiver, tmp_path):
    tenant = make_tenant()
    for _ in range(10):
        make_endpoint(tenant, url=receiver.url("/slow/0.05"), secret=SECRET)
    events = publish_many(tenant, 400)

    kill_while_delivering(tmp_path, receiver, deliveries=4_000, kills=20)

    assert_at_least_once(receiver, events, endpoints=10, duplicates_max=20 * 200)


def test_without_kills_everything_arrives_once(receiver, tmp_path):
    tenant = make_tenant()
    for _ in range(3):
        make_endpoint(tenant, url=receiver.url())
    events = publish_many(tenant, 100)

    with running(tmp_path, 0, "dispatcher"):
        wait_until(all_delivered, seconds=SOON)

    arrivals = Counter(request.headers["webhook-id"] for request in receiver.requests)
    assert arrivals == Counter(dict.fromkeys(events, 3))
    assert WebhookAttempt.objects.count() == 300


def test_sigterm_finishes_what_is_under_way(receiver, tmp_path):
    tenant = make_tenant()
    make_endpoint(tenant, url=receiver.url("/slow/4"), last_success_at=utc_now())
    publish_many(tenant, 30)

    with running(tmp_path, 0, "dispatcher") as product:
        wait_until(lambda: len(receiver.requests) == 10, seconds=SOON, every=0.01)

        assert product.finish("dispatcher")

    delivered = WebhookDelivery.objects.filter(status=DeliveryStatus.DELIVERED)
    assert (delivered.count(), len(receiver.requests)) == (10, 10)
    assert not WebhookDelivery.objects.filter(leased_until__isnull=False).exists()
    assert not has_started()


class TestValkey:
    def test_wakes_the_dispatcher_long_before_its_poll(self, receiver, tmp_path, settings):
        tenant = make_tenant()
        make_endpoint(tenant, url=receiver.url())
        with running(tmp_path, 0, "valkey", "dispatcher") as product:
            settings.REDIS_URL = product.redis_url
            wait_until(has_started, seconds=SOON)
            waits = []
            for number in range(20):
                time.sleep(0.05)
                began = time.monotonic()
                publish(tenant, now=utc_now())
                wait_for_requests(receiver, number + 1)
                waits.append(time.monotonic() - began)

        assert sorted(waits)[10] < POLL_SECONDS / 2  # idle, it polls that long after its last work

    def test_may_be_gone(self, receiver, tmp_path, settings):
        tenant = make_tenant()
        make_endpoint(tenant, url=receiver.url())
        with running(tmp_path, 0, "valkey", "dispatcher") as product:
            settings.REDIS_URL = product.redis_url
            wait_until(has_started, seconds=SOON)
            product.kill("valkey")
            began = time.monotonic()

            publish_many(tenant, 20)

            assert time.monotonic() - began < 2
            wait_until(lambda: len(receiver.requests) == 20, seconds=SOON)
            wait_until(lambda: "wake_ups_unavailable" in product.logs("dispatcher"), seconds=SOON)


def test_the_heartbeat_goes_on(receiver, tmp_path):
    with running(tmp_path, 0, "dispatcher"):
        wait_until(has_started, seconds=SOON)
        first = DispatcherHeartbeat.objects.get().beat_at

        def has_moved():
            return DispatcherHeartbeat.objects.get().beat_at > first + timedelta(seconds=4)

        wait_until(has_moved, seconds=SOON)


def test_logs_in_as_its_own_role_and_no_other(tmp_path):
    with running(tmp_path, 0, "dispatcher"):
        wait_until(has_started, seconds=SOON)
        with owner.as_superuser(), connection.cursor() as cursor:
            cursor.execute(LOGINS, [TEST_SUPERUSER])
            found = cursor.fetchall()

    assert found == [(settings.DATABASE_JOBS[jobs.DISPATCHER]["USER"],)]
