"""The demo tenant's endpoint that leads to the receiver of the copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from common import crypto
from demo.tenant import receiver
from devstack.receiver import connection
from devstack.receiver.connection import Connection
from tenants.models import Mode
from tests.builders import NOW, make_endpoint, make_tenant
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def development(settings, tmp_path):
    settings.RUN_DIR = str(tmp_path)
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.BASE_URL = "http://localhost:8000"


@pytest.fixture
def runs(tmp_path):
    """A receiver says how it is reached."""

    def runs(port=9001, secret=None):
        home = Path(tmp_path, "receiver")
        home.mkdir(exist_ok=True)
        found = Connection(port=port, secret=secret or connection.new_secret())
        connection.save(home, found)
        return found

    return runs


def secret_of(endpoint):
    row = WebhookEndpoint.objects.get(pk=endpoint.pk)
    return crypto.decrypt(row.secret_token, context=row.encryption_context)


def test_gets_every_event_signed_with_the_receivers_secret(acme, runs):
    found = runs()

    assert receiver.ensure(acme, now=NOW) == found

    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.url, endpoint.events) == ("http://127.0.0.1:9001/hooks", ["*"])
    assert secret_of(endpoint) == found.secret
    assert endpoint.previous_secret_token == ""


def test_is_the_same_one_after_a_restart(acme, runs):
    runs()
    receiver.ensure(acme, now=NOW)
    endpoint = WebhookEndpoint.objects.get()
    make_endpoint(acme)

    again = runs(port=9002)
    receiver.ensure(acme, now=NOW)

    moved = WebhookEndpoint.objects.get(description=receiver.DESCRIPTION)
    assert (moved.pk, moved.url) == (endpoint.pk, "http://127.0.0.1:9002/hooks")
    assert secret_of(moved) == again.secret
    assert WebhookEndpoint.objects.count() == 2


def test_is_none_where_no_receiver_runs(acme):
    assert receiver.ensure(acme, now=NOW) is None
    assert not WebhookEndpoint.objects.exists()


def test_is_none_where_the_copy_may_not_send_to_its_own_machine(acme, runs, settings):
    runs()
    settings.WEBHOOK_ALLOWED_NETWORKS = []

    assert receiver.ensure(acme, now=NOW) is None
    assert not WebhookEndpoint.objects.exists()


def test_of_a_live_tenant_is_none(db, runs):
    runs()

    assert receiver.ensure(make_tenant(mode=Mode.LIVE), now=NOW) is None
