from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from common.clock import utc_now
from payments.models import Payment, PaymentSettings, Recipient
from payments.transfer import PAYMENTS
from tenants.models import AuditEvent, User
from tests.builders import NOW, enter_as
from tests.payments.builders import fund, pay, run_due
from transfers import submission

CHANGELIST = "admin:payments_payment_changelist"


@pytest.fixture
def payment(acme):
    fund(acme, 10_000)
    return pay(acme)


@pytest.mark.parametrize(("model", "after_post"), [(Payment, 302), (Recipient, 403)])
def test_staff_see_everything_but_the_number_and_cannot_touch_it(
    payment, admin_client, model, after_post
):
    row = model.objects.get()
    name = f"admin:payments_{model._meta.model_name}"

    shown = admin_client.get(reverse(f"{name}_change", args=[row.pk]), follow=True)

    assert shown.status_code == admin_client.get(reverse(f"{name}_changelist")).status_code == 200
    assert b"000123456789" not in shown.content
    assert payment.recipient.account_number_token.encode() not in shown.content
    assert admin_client.get(reverse(f"{name}_add")).status_code == 403
    answer = admin_client.post(reverse(f"{name}_change", args=[row.pk]), {})
    assert answer.status_code == after_post
    assert model.objects.get() == row
    assert admin_client.post(reverse(f"{name}_delete", args=[row.pk])).status_code == 403


@pytest.mark.parametrize("column", ["pk", "tenant_id", "recipient_id"])
def test_payments_are_found_by_ids(payment, rival, admin_client, column):
    fund(rival, 10_000)
    pay(rival)

    response = admin_client.get(reverse(CHANGELIST), {"q": getattr(payment, column)})

    assert list(response.context["cl"].queryset) == [payment]


@pytest.mark.parametrize(
    ("columns", "standing", "tone"),
    [
        ({}, "Ready to send", "neutral"),
        ({"held_back_at": NOW, "next_attempt_at": None}, "Held back", "warn"),
        ({"held_at": NOW, "hold_reason": "Look"}, "On hold", "warn"),
    ],
)
def test_a_page_and_the_list_say_what_keeps_it_from_being_sent(
    payment, admin_client, columns, standing, tone
):
    Payment.objects.filter(pk=payment.pk).update(**columns)

    page = admin_client.get(reverse("desk:payment", args=[payment.pk]))

    badge = f'<span class="desk-badge desk-badge--{tone}">{standing}</span>'
    assert badge in page.content.decode()
    listed = admin_client.get(reverse(CHANGELIST)).content.decode()
    table = listed[listed.index('id="result_list"') :]
    assert standing in table[: table.index("</table>")]


def choose(client, action, payment, **answer):
    body = {"action": action, "_selected_action": [payment.pk], **answer}
    return client.post(reverse(CHANGELIST), body, follow=True)


def own_page(action, payment):
    return reverse(f"admin:payments_payment_{action}", args=[payment.pk])


def test_staff_hold_release_and_stop_with_a_reason(payment, admin_client, admin_user):
    assert choose(admin_client, "hold_chosen", payment).status_code == 200
    payment.refresh_from_db()
    assert payment.held_at is None

    choose(admin_client, "hold_chosen", payment, reason="New recipient")
    payment.refresh_from_db()
    assert payment.hold_reason == "New recipient"

    choose(admin_client, "release_chosen", payment, reason="Called them")
    admin_client.post(own_page("hold", payment), {"reason": "Called again"})
    admin_client.post(own_page("stop", payment), {"reason": "Fraud"})

    payment.refresh_from_db()
    assert (payment.held_at, payment.status) == (None, "failed")
    audited = AuditEvent.objects.filter(subject_id=payment.pk).order_by("created_at", "pk")
    assert [(event.action, event.actor_id, event.staff_note) for event in audited] == [
        ("payment.held", admin_user.pk, "New recipient"),
        ("payment.released", admin_user.pk, "Called them"),
        ("payment.held", admin_user.pk, "Called again"),
        ("payment.stopped", admin_user.pk, "Fraud"),
    ]


def test_a_page_offers_what_is_possible_now(payment, admin_client):
    page = reverse("desk:payment", args=[payment.pk])

    def offered():
        content = admin_client.get(page).content.decode()
        return [act for act in ("hold", "release", "stop") if own_page(act, payment) in content]

    assert offered() == ["hold"]
    admin_client.post(own_page("hold", payment), {"reason": "Look"})
    assert offered() == ["release", "stop"]
    admin_client.post(own_page("stop", payment), {"reason": "Fraud"})
    assert offered() == []


def test_staff_withdraw_what_has_not_left(payment, admin_client, settings):
    settings.SANDBOX_PACE = "banking_days"
    submission.submit_due(PAYMENTS, now=utc_now())
    page = reverse("desk:payment", args=[payment.pk])
    acts = ("hold", "release", "stop", "withdraw")
    content = admin_client.get(page).content.decode()
    assert [act for act in acts if own_page(act, payment) in content] == ["withdraw"]

    def withdraw():
        body = {"reason": "A wrong amount"}
        return admin_client.post(own_page("withdraw", payment), body, follow=True).content.decode()

    assert "is withdrawn, and fails in a moment." in withdraw()
    run_due(now=utc_now())
    payment.refresh_from_db()
    assert (payment.status, payment.failure_code) == ("failed", "withdrawn")
    assert "Nothing to withdraw. It is failed." in withdraw()


def test_staff_are_told_that_it_is_too_late_to_withdraw(payment, admin_client, settings):
    settings.SANDBOX_PACE = "seconds"
    submission.submit_due(PAYMENTS, now=NOW)

    answer = admin_client.post(own_page("withdraw", payment), {"reason": "Late"}, follow=True)

    assert "Too late. Its network has sent it." in answer.content.decode()
    payment.refresh_from_db()
    assert payment.status == "processing"


def test_nobody_holds_without_the_permission(payment, client):
    looker = User.objects.create_user(email="new@ballast.example", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_payment"))
    enter_as(client, looker)

    assert client.post(own_page("hold", payment), {"reason": "Look"}).status_code == 403
    choose(client, "hold_chosen", payment, reason="Look")

    payment.refresh_from_db()
    assert payment.held_at is None


def test_what_has_left_is_not_held_and_staff_are_told(payment, admin_client):
    run_due(now=NOW)

    response = choose(admin_client, "hold_chosen", payment, reason="Too late")

    assert "It is completed." in response.content.decode()
    assert Payment.objects.get().held_at is None


SETTINGS = "admin:payments_paymentsettings"


def test_staff_set_change_and_lift_a_tenants_approval_limit(acme, admin_client, admin_user):
    admin_client.post(reverse(f"{SETTINGS}_add"), {"tenant": acme.pk, "threshold": "5.00"})
    row = PaymentSettings.objects.get()
    assert (row.tenant, row.approval_threshold) == (acme, 500)

    page = reverse(f"{SETTINGS}_change", args=[row.pk])
    admin_client.post(page, {"threshold": ""})

    row.refresh_from_db()
    assert row.approval_threshold is None
    changes = AuditEvent.objects.filter(action="payments.approval_threshold_changed")
    assert {(event.actor_type, event.actor_id) for event in changes} == {
        ("staff", str(admin_user.pk))
    }
    assert changes.count() == 2


def test_staff_cannot_set_an_impossible_limit(acme, admin_client):
    admin_client.post(reverse(f"{SETTINGS}_add"), {"tenant": acme.pk, "threshold": "-1"})

    assert not PaymentSettings.objects.exists()
