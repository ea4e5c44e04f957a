from __future__ import annotations

import pytest
from django.urls import reverse

from payments.models import Payment, Recipient
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.payments.builders import fund, pay, run_due

CHANGELIST = "admin:payments_payment_changelist"


@pytest.fixture
def payment(acme):
    fund(acme, 10_000)
    return pay(acme)


@pytest.mark.parametrize("model", [Payment, Recipient])
def test_staff_see_everything_but_the_number_and_cannot_touch_it(payment, admin_client, model):
    row = model.objects.get()
    name = f"admin:payments_{model._meta.model_name}"

    shown = admin_client.get(reverse(f"{name}_change", args=[row.pk]))

    assert shown.status_code == admin_client.get(reverse(f"{name}_changelist")).status_code == 200
    assert b"000123456789" not in shown.content
    assert payment.recipient.account_number_token.encode() not in shown.content
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    assert admin_client.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
    assert admin_client.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


@pytest.mark.parametrize("column", ["pk", "tenant_id", "recipient_id"])
def test_payments_are_found_by_ids(payment, rival, admin_client, column):
    fund(rival, 10_000)
    pay(rival)

    response = admin_client.get(reverse(CHANGELIST), {"q": getattr(payment, column)})

    assert list(response.context["cl"].queryset) == [payment]


def act(client, action, payment):
    body = {"action": action, "_selected_action": [payment.pk]}
    return client.post(reverse(CHANGELIST), body, follow=True)


def test_staff_hold_a_payment_and_release_it(payment, admin_client, admin_user):
    act(admin_client, "hold", payment)
    payment.refresh_from_db()
    assert payment.held_at is not None

    act(admin_client, "release", payment)

    payment.refresh_from_db()
    assert payment.held_at is None
    audited = AuditEvent.objects.filter(subject_id=payment.pk).order_by("created_at", "pk")
    assert [(event.action, event.actor_id) for event in audited] == [
        ("payment.held", admin_user.pk),
        ("payment.released", admin_user.pk),
    ]


def test_what_has_left_is_not_held_and_staff_are_told(payment, admin_client):
    run_due(now=NOW)

    response = act(admin_client, "hold", payment)

    assert f"{payment.pk} is completed." in response.content.decode()
    assert Payment.objects.get().held_at is None
