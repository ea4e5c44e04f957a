"""`manage.py dispatch_webhooks` and the tasks, inside the test process."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
import urllib.request
from datetime import timedelta

import pytest
from django.core.management import call_command

from common.clock import utc_now
from tests.builders import make_endpoint, publish
from tests.servers import free_port
from webhooks import tasks
from webhooks.models import DispatcherHeartbeat, WebhookDelivery, WebhookEvent
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)


def terminate_when(holds):
    """SIGTERM to ourselves once `holds`, or after a minute."""

    def wait():
        end = time.monotonic() + 60
        while not holds() and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    waiting = threading.Thread(target=wait)
    waiting.start()
    return waiting


class TestDispatchWebhooks:
    def test_delivers_until_it_is_told_to_stop(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/slow/0.2"))
        publish(acme, now=utc_now())
        waiting = terminate_when(lambda: receiver.requests)

        call_command("dispatch_webhooks")

        waiting.join()
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED
        assert not DispatcherHeartbeat.objects.exists()

    def test_may_open_as_many_sockets_as_the_machine_lets_it(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = before[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, most))
        waiting = terminate_when(lambda: receiver.requests)

        try:
            call_command("dispatch_webhooks")
            found = resource.getrlimit(resource.RLIMIT_NOFILE)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

        waiting.join()
        assert found == (most, most)

    def test_serves_its_metrics_where_it_is_told_to(self, acme, receiver):
        port = free_port()
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        pages = []

        def has_counted():
            if receiver.requests:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as page:
                    pages.append(page.read().decode())
            return pages and "ballast_webhook_attempts_total" in pages[-1]

        waiting = terminate_when(has_counted)

        call_command("dispatch_webhooks", slots=4, metrics_port=port)

        waiting.join()
        assert 'ballast_webhook_attempts_total{answer="2xx"}' in pages[-1]

    def test_goes_on_without_valkey(self, acme, receiver, settings):
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())
        waiting = terminate_when(lambda: receiver.requests)

        call_command("dispatch_webhooks")

        waiting.join()
        assert receiver.paths() == ["/200"]


class TestTasks:
    def test_the_sweep_delivers(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        publish(acme, now=utc_now())

        tasks.sweep()

        assert receiver.paths() == ["/200"]

    def test_old_events_are_forgotten(self, acme):
        publish(acme, now=utc_now() - timedelta(days=31))

        tasks.forget_old()

        assert not WebhookEvent.objects.exists()
