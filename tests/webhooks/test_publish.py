from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from redis import Redis

from common import ids
from tenants.models import Mode, Tenant, TenantStatus
from tests.builders import NOW, make_endpoint, make_tenant, publish, publish_notice
from tests.database import owner
from webhooks import bodies, wake
from webhooks.models import DisabledReason, WebhookDelivery, WebhookEvent
from webhooks.services import events
from webhooks.states import DeliveryStatus, EndpointStatus


@pytest.fixture
def wake_ups():
    """What a listening dispatcher hears: call it for the number of wake-ups so far."""
    with Redis.from_url(settings.REDIS_URL) as client, client.pubsub() as listener:
        channel = wake.channel(settings.REDIS_URL)
        listener.subscribe(channel)
        listener.get_message(timeout=30)  # the confirmation

        def heard():
            client.publish(channel, b"now")  # it comes after what was published before
            return sum(1 for _ in iter(lambda: listener.get_message(timeout=30)["data"], b"now"))

        yield heard


class TestPaymentEvent:
    def test_freezes_the_body_as_compact_ascii_bytes(self, acme):
        payment_id = ids.new("ftx")

        event_id = publish(
            acme,
            payment_id=payment_id,
            type="payment.failed",
            status="failed",
            failure_code="café",
            sequence=3,
        )

        event = WebhookEvent.objects.get(pk=event_id)
        assert (
            bytes(event.body)
            == (
                f'{{"id":"{event_id}","type":"payment.failed","data":{{"paymentId":"{payment_id}",'
                '"amount":25000,"status":"failed","currency":"USD","direction":"in","sequence":3,'
                '"failureCode":"caf\\u00e9","returnCode":null,"network":null},'
                '"timestamp":"2026-11-20T15:00:00.000000Z"}'
            ).encode()
        )
        assert (event.tenant_id, event.payment_id, event.sequence) == (acme.pk, payment_id, 3)
        assert event.created_at == NOW

    def test_is_due_at_once_for_every_endpoint_that_wants_it(self, acme, rival):
        every = make_endpoint(acme, events=["*"])
        named = make_endpoint(acme, events=["payment.completed", "balance.low"])
        make_endpoint(acme, events=["payment.failed"])
        make_endpoint(rival, events=["*"])

        event_id = publish(acme)

        due = WebhookDelivery.objects.filter(event_id=event_id).order_by("endpoint_id")
        assert [
            (row.endpoint_id, row.tenant_id, row.status, row.next_attempt_at, row.attempts)
            for row in due
        ] == [
            (every.pk, acme.pk, DeliveryStatus.PENDING, NOW, 0),
            (named.pk, acme.pk, DeliveryStatus.PENDING, NOW, 0),
        ]
        assert all(ids.is_id(row.pk, "dlv") for row in due)

    def test_is_kept_as_skipped_for_an_endpoint_that_is_off(self, acme):
        make_endpoint(acme, status=EndpointStatus.DISABLED, disabled_reason=DisabledReason.TENANT)
        make_endpoint(acme, status=EndpointStatus.REMOVED, removed_at=NOW)

        publish(acme)

        delivery = WebhookDelivery.objects.get()
        assert (delivery.status, delivery.next_attempt_at) == (DeliveryStatus.SKIPPED, None)

    def test_costs_one_statement(self, acme, django_assert_num_queries):
        make_endpoint(acme)

        with django_assert_num_queries(1):
            publish(acme)

    def test_refuses_a_second_event_of_the_same_transition(self, acme):
        payment_id = ids.new("ftx")
        publish(acme, payment_id=payment_id, sequence=2)

        with pytest.raises(IntegrityError), transaction.atomic():
            publish(acme, payment_id=payment_id, sequence=2)

        assert WebhookEvent.objects.count() == 1

    def test_refuses_a_name_that_is_not_in_the_contract(self, acme):
        with pytest.raises(ValueError, match=r"payment\.paid"):
            publish(acme, type="payment.paid")

    def test_a_rollback_leaves_nothing(self, acme, wake_ups, django_capture_on_commit_callbacks):
        make_endpoint(acme)

        with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
            publish(acme)
            transaction.set_rollback(True)

        assert not WebhookEvent.objects.exists()
        assert not WebhookDelivery.objects.exists()
        assert wake_ups() == 0


class TestPaymentEventsOfMany:
    def test_are_each_what_it_would_be_alone(self, acme, rival, django_assert_num_queries):
        quiet = make_tenant(name="Quiet")
        off = {"status": EndpointStatus.DISABLED, "disabled_reason": DisabledReason.TENANT}
        wanted: list[tuple[Any, list[dict[str, Any]]]] = [
            (acme, [{"events": ["*"]}, {"events": ["payment.failed"]}, {"events": ["*"], **off}]),
            (rival, [{"events": ["payment.failed", "balance.low"]}, {"events": ["balance.low"]}]),
        ]
        for tenant, choices in wanted:
            for chosen in choices:
                make_endpoint(tenant, **chosen)
        make_endpoint(acme, status=EndpointStatus.REMOVED, removed_at=NOW)
        happened = [
            events.PaymentEvent(
                tenant_id=tenant.pk, type=type, data=payment_data(sequence=number, failure_code=odd)
            )
            for number, (tenant, type, odd) in enumerate(
                itertools.product(
                    (acme, rival, quiet), ("payment.completed", "payment.failed"), (None, 'é"\\,{')
                )
            )
        ]
        for event in happened:
            events.publish_payment(
                tenant_id=event.tenant_id, type=event.type, data=event.data, now=NOW
            )
        alone = stored_events()

        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM webhooks_webhookdelivery; DELETE FROM webhooks_webhookevent"
            )
        with django_assert_num_queries(1):
            events.publish_payments(happened, now=NOW, rows=[a_row()])

        assert stored_events() == alone
        assert all(ids.is_id(row.pk, "dlv") for row in WebhookDelivery.objects.all())
        assert all(ids.is_id(row.pk, "evt") for row in WebhookEvent.objects.all())

    def test_may_be_none_for_the_rows_they_come_with(self, db):
        row = a_row()

        events.publish_payments([], now=NOW, rows=[row])

        assert Tenant.objects.get().pk == row.pk

    def test_refuse_a_name_that_is_not_in_the_contract(self, acme):
        paid = events.PaymentEvent(tenant_id=acme.pk, type="payment.paid", data=payment_data())

        with pytest.raises(ValueError, match=r"payment\.paid"):
            events.publish_payments([paid], now=NOW, rows=[a_row()])


def payment_data(**fields):
    values: dict[str, Any] = {
        "payment_id": ids.new("ftx"),
        "amount": 25_000,
        "status": "completed",
        "direction": "in",
        "sequence": 1,
        "failure_code": None,
        "return_code": None,
        "network": None,
    }
    return bodies.PaymentData(**(values | fields))


def a_row():
    return Tenant(name="Row", mode=Mode.SANDBOX, status=TenantStatus.ACTIVE, created_at=NOW)


def stored_events():
    """All that is stored of events and their deliveries, but for their own ids."""
    found = []
    for event in WebhookEvent.objects.order_by("payment_id", "sequence"):
        columns = ("endpoint_id", "tenant_id", "payment_id", "sequence", "status")
        times = ("next_attempt_at", "queued_at", "created_at", "attempts", "is_manual")
        deliveries = event.deliveries.order_by("endpoint_id").values_list(*columns, *times)
        body = json.loads(bytes(event.body)) | {"id": ""}
        terms = (event.tenant_id, event.type, event.payment_id, event.sequence, event.created_at)
        found.append((*terms, event.receivers, body, list(deliveries)))
    return found


class TestNotice:
    def test_goes_only_to_endpoints_that_name_it(self, acme):
        make_endpoint(acme, events=["*"])
        named = make_endpoint(acme, events=["balance.low"])

        event_id = publish_notice(acme)

        assert WebhookDelivery.objects.get().endpoint_id == named.pk
        assert json.loads(bytes(WebhookEvent.objects.get().body)) == {
            "id": event_id,
            "type": "balance.low",
            "data": {"availableBalance": 5, "pendingBalance": 0, "lowBalanceThreshold": 100},
            "timestamp": "2026-11-20T15:00:00.000000Z",
        }

    def test_leaves_out_what_does_not_apply_but_not_what_is_unknown(self, acme):
        asked = bodies.ConfirmationRequested(
            confirmation_id="cnf_1", payment_id="pay_1", amount=5, expires_at=NOW
        )
        paused = bodies.AutoFundingPaused(reason="why", paused_until=None, available_balance=5)

        for data in (asked, paused):
            events.publish_notice(tenant_id=acme.pk, data=data, now=NOW)

        told = [json.loads(bytes(row.body))["data"] for row in WebhookEvent.objects.order_by("id")]
        assert told == [
            {
                "confirmationId": "cnf_1",
                "paymentId": "pay_1",
                "amount": 5,
                "expiresAt": "2026-11-20T15:00:00.000000Z",
            },
            {"reason": "why", "pausedUntil": None, "availableBalance": 5},
        ]

    def test_refuses_bodies_without_bound(self, acme):
        endless = bodies.FundingSourceUpdated(
            funding_source_id="fs_1", status="y" * 65_536, last_return_code=None
        )

        with pytest.raises(ValueError, match="larger than"):
            events.publish_notice(tenant_id=acme.pk, data=endless, now=NOW)

        assert not WebhookEvent.objects.exists()


class TestWakeUp:
    def test_follows_the_commit_once_per_event_with_receivers(
        self, acme, wake_ups, django_capture_on_commit_callbacks
    ):
        make_endpoint(acme)

        with django_capture_on_commit_callbacks(execute=True):
            publish(acme)
            assert wake_ups() == 0

        assert wake_ups() == 1

    def test_is_spared_when_nobody_listens(
        self, acme, wake_ups, django_capture_on_commit_callbacks
    ):
        with django_capture_on_commit_callbacks(execute=True):
            publish(acme)

        assert wake_ups() == 0

    def test_is_heard_by_the_dispatchers_of_one_installation(self):
        ours, theirs = (f"unix:///valkey.sock?db={number}" for number in (0, 3))

        assert wake.channel(ours) != wake.channel(theirs)
        assert wake.channel("redis://localhost:6379") == wake.channel(ours)


class TestHistory:
    def test_an_event_cannot_be_rewritten(self, acme):
        event_id = publish(acme)

        refused = pytest.raises(Exception, match="Cannot update")
        with owner.as_owner(), refused, transaction.atomic():
            WebhookEvent.objects.filter(pk=event_id).update(body=b"{}")
