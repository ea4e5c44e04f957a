"""What would be a lie to the bank or to a receiver is found as one."""

from __future__ import annotations

import pytest
from django.db import connection

from common.clock import utc_now
from networks.sandbox.models import SandboxEvent
from tests.builders import make_endpoint, make_tenant
from tests.crashes import outside
from tests.database import owner
from tests.funding.builders import run_due, top_up
from tests.receivers import Received
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def funding():
    tenant = make_tenant()
    make_endpoint(tenant)
    made = top_up(tenant, now=utc_now())
    run_due(now=utc_now())
    return made


def change(statement):
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0


def received(**changes):
    event = WebhookEvent.objects.earliest("pk")
    values = {"path": "/in", "headers": {"webhook-id": event.pk}, "body": bytes(event.body)}
    return Received(**{**values, **changes})


def test_the_truth_is_none(stored, funding):
    assert SandboxEvent.objects.filter(acknowledged=True).count() == 2
    assert list(outside.lies(stored, [received()])) == []


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM webhooks_webhookdelivery WHERE sequence = 2", "has 0 deliveries"),
        ("UPDATE webhooks_webhookevent SET receivers = '{}'; "
         "DELETE FROM webhooks_webhookdelivery WHERE sequence = 1", "has 0 deliveries"),
        ("DELETE FROM network_inbox_inboundevent WHERE kind = 'final'", "need not say again"),
        ("UPDATE sandbox_bank_sandboxinstruction SET accepted_at = NULL", "the bank has nothing"),
        ("UPDATE sandbox_bank_sandboxinstruction SET amount = amount - 1", "the bank has 24999"),
        ("UPDATE funding_fundingtransaction SET status = 'failed', failed_at = now()",
         "but the bank carries it out"),
        ("UPDATE webhooks_webhookdelivery SET status = 'delivered', next_attempt_at = NULL,"
         " delivered_at = now() WHERE sequence = 2", "never received it"),
    ],
)  # fmt: skip
def test_damage_is_one(stored, funding, statement, said):
    change(statement)

    (lie,) = outside.lies(stored, [received()])

    assert said in lie


@pytest.mark.parametrize("changes", [{"body": b"{}"}, {"headers": {"webhook-id": "evt_nobody"}}])
def test_what_a_receiver_got_and_nobody_stored_is_one(stored, funding, changes):
    (lie,) = outside.lies(stored, [received(**changes)])

    assert "which is not stored so" in lie


def test_a_transfer_that_never_left_is_none(stored, funding):
    change("UPDATE funding_fundingtransaction SET status = 'reserved'")
    change("DELETE FROM sandbox_bank_sandboxevent")
    change("DELETE FROM sandbox_bank_sandboxinstruction")

    assert list(outside.lies(stored, [])) == []
