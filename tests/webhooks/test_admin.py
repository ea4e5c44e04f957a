from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from tenants.actors import SYSTEM
from tenants.models import AuditEvent, User
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import NOW, enter_as, make_endpoint, publish
from webhooks.models import (
    DispatcherHeartbeat,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from webhooks.states import DeliveryStatus, EndpointStatus

MODELS = [WebhookEndpoint, WebhookEvent, WebhookDelivery, WebhookAttempt, DispatcherHeartbeat]
HAVE_DESK_PAGES = [WebhookEvent, WebhookDelivery]


@pytest.fixture
def endpoint(acme):
    endpoint = make_endpoint(acme)
    publish(acme)
    WebhookAttempt.objects.create(
        delivery=WebhookDelivery.objects.get(), number=1, duration_ms=1, started_at=NOW
    )
    DispatcherHeartbeat.objects.create(name="host:1", started_at=NOW, beat_at=NOW)
    return endpoint


def act(client, model, action, row):
    path = reverse(f"admin:webhooks_{model._meta.model_name}_changelist")
    return client.post(path, {"action": action, "_selected_action": [row.pk]}, follow=True)


@pytest.mark.parametrize("model", MODELS)
def test_staff_look_and_cannot_edit(endpoint, admin_client, model):
    row = model.objects.get()
    name = f"admin:webhooks_{model._meta.model_name}"

    assert admin_client.get(reverse(f"{name}_changelist"), {"q": "x"}).status_code == 200
    page = reverse(f"{name}_change", args=[row.pk])
    assert admin_client.get(page, follow=True).status_code == 200
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    assert admin_client.post(page, {}).status_code == (302 if model in HAVE_DESK_PAGES else 403)
    assert admin_client.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


def test_secrets_are_not_shown(endpoint, admin_client):
    page = admin_client.get(reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk]))

    assert endpoint.url in page.content.decode()
    assert endpoint.secret_token not in page.content.decode()
    assert "secret_token" not in page.content.decode()


def test_an_endpoint_says_how_it_stands_and_what_it_gets(endpoint, admin_client):
    page = admin_client.get(reverse("admin:webhooks_webhookendpoint_change", args=[endpoint.pk]))

    assert 'desk-badge--good">Enabled' in page.content.decode()
    assert "<dd>All payment events</dd>" in page.content.decode()


@pytest.mark.parametrize("column", ["pk", "event_id", "endpoint_id"])
def test_deliveries_are_found_by_ids(endpoint, rival, admin_client, column):
    make_endpoint(rival)
    publish(rival)
    wanted = WebhookDelivery.objects.get(endpoint=endpoint)

    response = admin_client.get(
        reverse("admin:webhooks_webhookdelivery_changelist"), {"q": getattr(wanted, column)}
    )

    assert list(response.context["cl"].queryset) == [wanted]


class TestActions:
    def test_switch_off_and_on(self, endpoint, admin_client):
        act(admin_client, WebhookEndpoint, "switch_off", endpoint)
        endpoint.refresh_from_db()
        assert (endpoint.status, endpoint.disabled_reason) == (EndpointStatus.DISABLED, "staff")

        act(admin_client, WebhookEndpoint, "switch_on", endpoint)
        endpoint.refresh_from_db()
        assert endpoint.status == EndpointStatus.ENABLED
        who = AuditEvent.objects.filter(subject_id=endpoint.pk).values_list("actor_type", flat=True)
        assert list(who) == ["staff", "staff"]

    def test_send_again(self, endpoint, admin_client):
        delivery = WebhookDelivery.objects.get()
        WebhookDelivery.objects.update(status=DeliveryStatus.FAILED, next_attempt_at=None)

        act(admin_client, WebhookDelivery, "resend", delivery)

        delivery.refresh_from_db()
        assert (delivery.status, delivery.is_manual) == (DeliveryStatus.PENDING, True)
        assert AuditEvent.objects.get(action="webhook.resent").actor_type == "staff"

    def test_send_again_says_that_sending_is_stopped(self, endpoint, admin_client):
        switches.engage(kind=SwitchKind.WEBHOOKS, reason="Storm", actor=SYSTEM, now=NOW)
        delivery = WebhookDelivery.objects.get()

        page = act(admin_client, WebhookDelivery, "resend", delivery)

        assert f"{delivery.pk}: sent once sending webhooks resumes." in page.content.decode()

    def test_tell_what_was_refused(self, endpoint, admin_client):
        WebhookEndpoint.objects.update(status=EndpointStatus.REMOVED, removed_at=NOW)

        page = act(admin_client, WebhookEndpoint, "switch_on", endpoint)

        assert f"{endpoint.pk}: There is no such webhook endpoint." in page.content.decode()

    def test_need_the_permission(self, endpoint, client):
        viewer = User.objects.create_user(email="viewer@ballast.example", is_staff=True)
        viewer.user_permissions.set(Permission.objects.filter(codename__startswith="view_webhook"))
        enter_as(client, viewer)

        act(client, WebhookEndpoint, "switch_off", endpoint)

        endpoint.refresh_from_db()
        assert endpoint.status == EndpointStatus.ENABLED
