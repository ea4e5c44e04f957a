"""Every form of the dashboard, by the name of its page, sent as a browser sends it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from allauth.mfa.totp.internal.auth import TOTP
from django.urls import reverse

from approvals import requests
from common.clock import utc_now
from funding.models import Confirmation, FundingSource, SourceVerification
from funding.services import auto_funding
from payments.models import PaymentConfirmation
from payments.services import approval_settings, orders, recipients
from tenants import actors
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Invitation, Membership, Mode, OutgoingEmail, Role
from tenants.services import emails, invitations
from tests.builders import make_key, make_linked_source, make_source, make_tenant
from tests.crashes.api_stories import failed_delivery
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World
from tests.database import owner
from tests.funding.agreeing import agree
from tests.funding.builders import top_up
from tests.payments.builders import account
from tests.plaid import ACCOUNT_ID, PUBLIC_TOKEN

Begin = Callable[[World], Act]

_HIDDEN = re.compile(r'<input type="hidden" name="(token|seen|standing)" value="([^"]*)"')
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"  # of an app that shows codes
ACCOUNT = {
    "holder_name": "Acme Inc",
    "routing_number": "021000021",
    "account_number": "000123456789",
    "account_number_again": "000123456789",
    "account_type": "checking",
    "holder_type": "business",
}


def form(world: World, page: str, /, *names: Any, **fields: Any) -> Act:
    """What to do: send the form of this page. A page that shows it is looked at first."""
    return form_of(world, world.browser, reverse(f"dashboard:{page}", args=names), **fields)


def form_of(world: World, browser: Any, path: str, **fields: Any) -> Act:
    shown = browser.get(path)
    text = shown.content.decode() if shown.status_code == 200 else ""
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(text)}
    sent = {"acting_for": world.tenant.pk, **hidden, **fields}
    return partial(_send, browser, path, sent)


def _send(browser: Any, path: str, fields: dict[str, Any], _headers: Any) -> Any:
    return browser.post(path, fields)


def plain(page: str, /, **fields: Any) -> Begin:
    """A form that needs nothing but the tenant."""
    return lambda world: form(world, page, **fields)


def cancel_funding(world: World) -> Act:
    funding = world.funding()
    world.low()
    return form(world, "funding_cancel", funding.pk)


def retry_funding(world: World) -> Act:
    source = make_source(world.tenant, account_number="10001", now=utc_now())
    first = top_up(world.tenant, source=source, now=utc_now())
    World.finish_all()
    world.low()
    return form(world, "funding_retry", first.pk)


def topup_fields(world: World) -> dict[str, Any]:
    return {"amount": "250.00", "source": world.source.pk, "method": "ach_debit"}


def topup(world: World) -> Act:
    world.low()
    return form(world, "topup", **topup_fields(world), step="confirm")


def saved_recipient(world: World) -> Any:
    return recipients.save(
        tenant_id=world.tenant.pk, details=account(), actor=SYSTEM, now=utc_now()
    )


def pay(world: World) -> Act:
    world.money()
    world.low()
    fields = {"recipient": saved_recipient(world).pk, "amount": "250.00", "method": "ach_credit"}
    return form(world, "pay", **fields, description="Invoice 7", step="confirm")


def cancel_payment(world: World) -> Act:
    world.money()
    payment = world.payment()
    world.low()
    return form(world, "payment_cancel", payment.pk)


def payment_approval(world: World) -> Act:
    world.member(Role.APPROVER)
    return form(world, "payment_approval", threshold="1000.00")


def change_payment_approval(world: World) -> Act:
    """Of a live tenant: nothing waits in the sandbox."""
    world.tenant = make_tenant(mode=Mode.LIVE)
    checker = world.browser_of(world.member(Role.APPROVER))
    approval_settings.set_threshold(
        tenant_id=world.tenant.pk, threshold=100_000, actor=SYSTEM, now=utc_now()
    )
    asked = form(world, "payment_approval", threshold="")({})
    assert asked.status_code == 302
    path = reverse("dashboard:payment_approval_change")
    return form_of(world, checker, path, decision="agree")


def limits_form(world: World, **fields: str) -> Act:
    return form(world, "payment_limits_edit", **fields)


def change_limits(world: World, what: str, asked: Callable[[World], Act]) -> Act:
    """A change of a live tenant that waits, and a second person agrees."""
    world.tenant = make_tenant(mode=Mode.LIVE)
    checker = world.browser_of(world.member(Role.APPROVER))
    assert asked(world)({}).status_code == 302
    path = reverse("dashboard:payment_limits_change")
    return form_of(world, checker, path, what=what, decision="agree")


def of_recipient(name: str, **fields: Any) -> Begin:
    return lambda world: form(world, name, saved_recipient(world).pk, **fields)


def open_approval(world: World) -> Confirmation:
    """$50.00 wait for the owner."""
    world.money(1_000)
    world.low(confirmation_threshold=1_000, funding_amount=5_000)
    assert world.owner
    auto_funding.evaluate(tenant_id=world.tenant.pk, now=utc_now())
    return Confirmation.objects.get(tenant_id=world.tenant.pk)


def approve(world: World) -> Act:
    return form(
        world, "approval", open_approval(world).pk, decision="approve", typed_amount="50.00"
    )


def decline(world: World) -> Act:
    return form(world, "approval", open_approval(world).pk, decision="decline", reason="Not ours")


def asked_payment(world: World) -> PaymentConfirmation:
    """$100.00 wait for the approver, whose browser this is."""
    world.money()
    approval_settings.set_threshold(
        tenant_id=world.tenant.pk, threshold=1_000, actor=SYSTEM, now=utc_now()
    )
    assert world.owner
    return PaymentConfirmation.objects.get(payment=world.payment())


def decide_payment(**fields: Any) -> Begin:
    return lambda world: form(world, "approval", asked_payment(world).pk, **fields)


def resend_approval(world: World) -> Act:
    asked = open_approval(world)
    emails.send_due(now=utc_now())
    before = utc_now() - requests.RESEND_AFTER
    with owner.as_superuser(triggers=False):  # a sent e-mail stays as it is
        OutgoingEmail.objects.filter(tenant=world.tenant).update(created_at=before, sent_at=before)
    return form(world, "approval_resend", asked.pk)


def rule_form(page: str, **fields: Any) -> Begin:
    return lambda world: form(world, page, **rule_fields(world), **fields)


def rule_fields(world: World) -> dict[str, Any]:
    world.money(1_000)
    return {
        "enabled": "on",
        "low_balance_threshold": "200",
        "funding_amount": "500",
        "source_id": world.source.pk,
        "funding_method": "ach_debit",
    }


def pause(world: World) -> Act:
    world.low()
    return form(world, "auto_funding_pause")


def resume(world: World) -> Act:
    world.money(1_000)
    world.low(paused_reason="too_many_firings")
    path = reverse("dashboard:auto_funding_resume")
    shown = world.browser.get(reverse("dashboard:auto_funding")).content.decode()
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(shown)}
    return form_of(world, world.browser, path, **hidden)


def second_source(world: World) -> Any:
    assert world.source
    return make_linked_source(world.tenant)


def link(world: World) -> Act:
    """At the provider, where real accounts are."""
    world.tenant = make_tenant(mode=Mode.LIVE)
    fields = {"public_token": PUBLIC_TOKEN, "account_id": ACCOUNT_ID, "holder_name": "Acme Inc"}
    sent = form(world, "bank_account_link", **fields)

    def act(headers: Mapping[str, str]) -> Any:
        world.plaid.public_tokens.add(PUBLIC_TOKEN)  # the module is opened for each try
        return sent(headers)

    return act


def verify(world: World) -> Act:
    source = make_source(world.tenant, account_number="50001", now=utc_now())
    World.finish_all()
    first, second = SourceVerification.objects.get(source=source).amounts
    return form(world, "bank_account_verify", source.pk, first=str(first), second=str(second))


def authorize(world: World) -> Act:
    ended = FundingSource.objects.filter(pk=world.source.pk)
    ended.update(authorization_ended_at=utc_now(), last_return_code="R07")
    return form(world, "bank_account_authorize", world.source.pk)


def tell_holder(world: World) -> Act:
    FundingSource.objects.filter(pk=world.source.pk).update(is_holder_known=False)
    return form(world, "bank_account_holder", world.source.pk, holder_type="individual")


def revoke_authorization(world: World) -> Act:
    world.low()
    kept = agree(world.source, actor=actors.user(world.owner.pk))
    return form(world, "authorization_revoke", kept.pk)


def remove_source(world: World) -> Act:
    world.low()
    return form(world, "bank_account_remove", world.source.pk)


def key_of(world: World) -> ApiKey:
    make_key(world.tenant)
    return ApiKey.objects.get(tenant=world.tenant)


def rotate_key(world: World) -> Act:
    return form(world, "api_key_rotate", key_of(world).pk, overlap="0")


def endpoint_form(name: str, **fields: Any) -> Begin:
    return lambda world: form(world, name, world.endpoint.pk, **fields)


def replay(world: World) -> Act:
    failed_delivery(world)
    day = utc_now() - timedelta(days=1), utc_now() + timedelta(minutes=2)
    start, end = (f"{moment:%Y-%m-%dT%H:%M}" for moment in day)
    fields = {"start": start, "end": end, "which": "missing", "step": "confirm"}
    return form(world, "webhook_replay", world.endpoint.pk, **fields)


def resend(world: World) -> Act:
    return form(world, "delivery_resend", failed_delivery(world).pk)


def invited(world: World) -> Any:
    return invitations.invite(
        tenant_id=world.tenant.pk,
        email="new@acme.example",
        role=Role.VIEWER,
        actor=SYSTEM,
        now=utc_now(),
    )


def of_invitation(name: str) -> Begin:
    def begin(world: World) -> Act:
        row = invited(world)
        emails.send_due(now=utc_now())
        day_old = row.expires_at - timedelta(days=1)
        Invitation.objects.filter(pk=row.pk).update(expires_at=day_old)
        return form(world, name, row.pk)

    return begin


def sign_in_rule(world: World) -> Act:
    TOTP.activate(world.owner, SECRET)
    world.browser = world.browser_of(world.owner, factor="totp")
    return form(world, "team_sign_in_rule", required="yes")


def of_member(name: str, **fields: Any) -> Begin:
    """A member who leaves two payments: one is canceled, and one waits for a second person."""

    def begin(world: World) -> Act:
        lee = Membership.objects.get(tenant=world.tenant, user=world.member(Role.VIEWER))
        gone, _stays = (
            orders.place(
                tenant_id=world.tenant.pk,
                mode=world.tenant.mode,
                order=orders.Order(amount=50_000_00, recipient=account(), wait_for_funds=True),
                actor=actors.user(lee.user_id),
                now=utc_now(),
            )
            for _ in range(2)
        )
        return form(world, name, lee.pk, cancel=gone.pk, **fields)

    return begin


BEGINNINGS: dict[str, Begin] = {
    "funding_cancel": cancel_funding,
    "funding_retry": retry_funding,
    "topup": topup,
    "topup_check": lambda world: form(world, "topup_check", **topup_fields(world)),
    "pay": pay,
    "payment_cancel": cancel_payment,
    "payment_approval": payment_approval,
    "payment_approval_change": change_payment_approval,
    "payment_limits_edit": lambda world: limits_form(world, tenant_day_amount="1000.00"),
    "payment_cool_down": plain("payment_cool_down", hours="48"),
    "payment_limits_change": lambda world: change_limits(world, "limits", limits_form),
    "payment_limits_change of the cool-down": lambda world: change_limits(
        world, "cool_down", plain("payment_cool_down", hours="1")
    ),
    "recipient_add": plain("recipient_add", **ACCOUNT, nickname=""),
    "recipient_rename": of_recipient("recipient_rename", nickname="Paper mill"),
    "recipient_remove": of_recipient("recipient_remove"),
    "approval": approve,
    "approval declined": decline,
    "approval of a payment": decide_payment(decision="approve", typed_amount="100.00"),
    "approval of a payment declined": decide_payment(decision="decline", reason="Not ours"),
    "approval_resend": resend_approval,
    "auto_funding_settings": rule_form("auto_funding_settings", step="save"),
    "auto_funding_preview": rule_form("auto_funding_preview"),
    "auto_funding_pause": pause,
    "auto_funding_resume": resume,
    "bank_account_enter": plain("bank_account_enter", **ACCOUNT),
    "bank_account_link": link,
    "bank_account_pick": plain("bank_account_pick", outcome="first", holder_name="Acme Inc"),
    "bank_account_default": lambda world: form(
        world, "bank_account_default", second_source(world).pk
    ),
    "bank_account_authorize": authorize,
    "bank_account_holder": tell_holder,
    "authorization_revoke": revoke_authorization,
    "bank_account_remove": remove_source,
    "bank_account_verify": verify,
    "api_key_issue": plain("api_key_issue", name="billing", scopes=["balance:read"]),
    "api_key_rotate": rotate_key,
    "api_key_revoke": lambda world: form(world, "api_key_revoke", key_of(world).pk),
    "api_key_loosening": lambda world: form(
        world, "api_key_loosening", key_of(world).pk, allowed="no"
    ),
    "webhook_register": plain("webhook_register", url="https://93.184.215.14/new", scope="every"),
    "webhook_edit": endpoint_form("webhook_edit", url="https://93.184.215.14/x", scope="every"),
    "webhook_rotate": endpoint_form("webhook_rotate", overlap="0"),
    "webhook_switch": endpoint_form("webhook_switch", active=""),
    "webhook_remove": endpoint_form("webhook_remove"),
    "webhook_test": endpoint_form("webhook_test"),
    "webhook_replay": replay,
    "delivery_resend": resend,
    "team_invite": plain("team_invite", email="new@acme.example", role="viewer"),
    "team_sign_in_rule": sign_in_rule,
    "invitation_resend": of_invitation("invitation_resend"),
    "invitation_revoke": of_invitation("invitation_revoke"),
    "member_role": of_member("member_role", role="approver"),
    "member_remove": of_member("member_remove"),
    "settings": plain("settings", name="Acme Corp"),
    "settings_retries": plain("settings_retries", times="2", after_days="3"),
    "notifications": plain("notifications"),
    "switch_tenant": lambda world: form(world, "switch_tenant", tenant=world.tenant.pk),
}

# The provider is asked between two transactions, and a session is saved by itself after all else.
IN_STEPS = {"bank_account_link", "switch_tenant"}
# A replay that is asked for again finds everything queued: it says so, also in the trail.
LEAVES = {"bank_account_link": "funding_linkconsent", "webhook_replay": "tenants_auditevent"}

STORIES = [
    Story(
        f"page {name}",
        begin,
        may_wait=name == "webhook_test",
        in_steps=name in IN_STEPS,
        sees_sessions=name == "switch_tenant",
        leaves=LEAVES.get(name, ""),
    )
    for name, begin in BEGINNINGS.items()
]
