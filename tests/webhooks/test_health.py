"""What happens to endpoints that go on failing, and the periodic upkeep."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail, Role
from tenants.services import accounts, emails
from tests.builders import NOW, make_endpoint, publish
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.services import deliveries, health, retention, upkeep
from webhooks.states import DeliveryStatus, EndpointStatus

DAY = timedelta(days=1)
URL = "https://hooks.example.com/in?key=letmein"


@pytest.fixture
def owner(acme):
    for email, role in (("owner@acme.example", Role.OWNER), ("viewer@acme.example", Role.VIEWER)):
        accounts.create_member(
            tenant_id=acme.pk, email=email, role=role, password=None, actor=SYSTEM, now=NOW
        )
    return "owner@acme.example"


@pytest.fixture
def failing(acme, owner):
    return make_endpoint(acme, url=URL, consecutive_failures=9, first_failure_at=NOW)


def told():
    return [(email.to, email.template) for email in OutgoingEmail.objects.order_by("pk")]


class TestReview:
    def test_says_nothing_for_a_day(self, failing):
        assert health.review(now=NOW + DAY - timedelta(seconds=1)) == 0
        assert told() == []

    def test_warns_the_owners_after_one_day_and_three_once_each(self, failing, owner):
        for hours in (24, 25, 71, 72, 73, 119):
            health.review(now=NOW + timedelta(hours=hours))

        assert told() == [(owner, "webhook_failing")] * 2
        days = [email.context["days"] for email in OutgoingEmail.objects.order_by("pk")]
        assert days == [1, 3]
        failing.refresh_from_db()
        assert failing.status == EndpointStatus.ENABLED

    def test_switches_off_after_five_days_and_says_so(self, acme, failing, owner):
        publish(acme)

        health.review(now=NOW + 5 * DAY)
        health.review(now=NOW + 6 * DAY)

        failing.refresh_from_db()
        assert (failing.status, failing.disabled_reason) == (EndpointStatus.DISABLED, "failing")
        assert WebhookDelivery.objects.get().status == DeliveryStatus.SKIPPED
        assert told() == [(owner, "webhook_disabled")]
        event = AuditEvent.objects.get(action="webhook.disabled")
        assert (event.actor_type, event.details) == (
            "system",
            {"url": "https://hooks.example.com/in", "reason": "failing"},
        )

    def test_leaves_healthy_endpoints_alone(self, acme, owner):
        make_endpoint(acme, last_success_at=NOW - 30 * DAY)

        assert health.review(now=NOW) == 0

    def test_starts_anew_after_a_success(self, failing):
        health.review(now=NOW + DAY)
        later = NOW + 2 * DAY
        WebhookEndpoint.objects.update(first_failure_at=later, warnings_sent=0)

        health.review(now=later + DAY)

        assert len(told()) == 2


class TestGone:
    def test_is_switched_off_at_once(self, failing, owner):
        assert health.switch_off_gone(endpoint_id=failing.pk, url=URL, now=NOW)

        failing.refresh_from_db()
        assert failing.disabled_reason == "gone"
        assert told() == [(owner, "webhook_disabled")]

    def test_does_not_count_for_a_url_given_since(self, failing):
        assert not health.switch_off_gone(endpoint_id=failing.pk, url="https://old/", now=NOW)

        failing.refresh_from_db()
        assert failing.status == EndpointStatus.ENABLED


class TestMessages:
    @pytest.mark.parametrize("days", [1, 3, 5])
    def test_can_be_read(self, acme, failing, days):
        health.review(now=NOW + days * DAY)

        emails.send_due(now=NOW + days * DAY)

        (message,) = mail.outbox
        assert isinstance(message, EmailMultiAlternatives)
        html, _kind = message.alternatives[0]
        for text in (str(message.body), str(html)):
            assert "https://hooks.example.com/in" in text
            assert "Nov 20, 2026, 10:00 AM EST" in text
            assert "letmein" not in text
            assert acme.name in text
        assert acme.name in message.subject

    def test_of_a_gone_endpoint_says_why(self, failing):
        health.switch_off_gone(endpoint_id=failing.pk, url=URL, now=NOW)

        emails.send_due(now=NOW)

        assert "410 Gone" in mail.outbox[0].body


class TestPutAside:
    def test_asks_once_for_each_kind_where_there_is_nothing(self, db):
        with CaptureQueriesContext(connection) as queries:
            assert deliveries.put_aside(now=NOW) == 0

        asked = [query["sql"] for query in queries if "webhooks_webhookdelivery" in query["sql"]]
        assert len(asked) == 2

    def test_takes_what_came_while_switching_off(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert deliveries.put_aside(now=NOW) == 1
        assert endpoint.deliveries.get().status == DeliveryStatus.SKIPPED

    def test_leaves_what_is_being_sent(self, acme):
        make_endpoint(acme)
        publish(acme)
        until = NOW + timedelta(seconds=60)
        WebhookDelivery.objects.update(leased_until=until)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert deliveries.put_aside(now=NOW) == 0
        assert deliveries.put_aside(now=until) == 1

    def test_gives_what_was_asked_for_one_try(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(is_manual=True)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert deliveries.put_aside(now=NOW) == 0
        WebhookDelivery.objects.update(failures=1)
        assert deliveries.put_aside(now=NOW) == 1
        assert endpoint.deliveries.get().status == DeliveryStatus.SKIPPED


class TestRetention:
    def test_forgets_events_after_30_days_with_all_that_hangs_on_them(self, acme):
        make_endpoint(acme)
        publish(acme, now=NOW - 31 * DAY)
        kept = publish(acme, now=NOW - 29 * DAY)
        WebhookDelivery.objects.update(status=DeliveryStatus.DELIVERED, next_attempt_at=None)
        for delivery in WebhookDelivery.objects.all():
            WebhookAttempt.objects.create(
                delivery=delivery, number=1, duration_ms=1, started_at=NOW
            )

        assert retention.forget_old(now=NOW) == 1

        assert list(WebhookEvent.objects.values_list("pk", flat=True)) == [kept]
        assert WebhookDelivery.objects.get().event_id == kept
        assert WebhookAttempt.objects.count() == 1

    def test_keeps_what_is_still_to_be_delivered(self, acme):
        make_endpoint(acme)
        publish(acme, now=NOW - 31 * DAY)

        assert retention.forget_old(now=NOW) == 0

    def test_goes_on_until_all_is_done(self, acme, monkeypatch):
        monkeypatch.setattr(retention, "_BATCH", 2)
        for _ in range(5):
            publish(acme, now=NOW - 31 * DAY)

        assert retention.forget_old(now=NOW) == 5


@pytest.mark.django_db(transaction=True)
def test_the_sweep_does_all_of_it(failing, owner):
    upkeep.sweep(now=NOW + 5 * DAY)

    failing.refresh_from_db()
    assert failing.status == EndpointStatus.DISABLED
