"""Small functions that make what a test needs, with the defaults that most tests want."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from allauth.account.authentication import AUTHENTICATION_METHODS_SESSION_KEY
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group, Permission
from django.test import Client

from balance import services as ledger
from common import crypto, ids
from common.clock import utc_now
from funding.models import (
    AutoFundingConfig,
    FundingMethod,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import drafts, linking
from funding.states import FundingStatus
from tenants import scopes as all_scopes
from tenants import session_life
from tenants.actors import SYSTEM, Actor
from tenants.models import Invitation, Mode, OutgoingEmail, Role, Tenant, User
from tenants.services import accounts, keys, staff
from tenants.session_store import SessionStore
from tests import document
from tests.database import owner
from webhooks import signing
from webhooks.bodies import BalanceLow, PaymentData
from webhooks.models import WebhookEndpoint, WebhookEvent
from webhooks.services import events as webhook_events

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def make_tenant(*, name: str = "Acme", mode: Mode = Mode.SANDBOX) -> Tenant:
    return accounts.create_tenant(name=name, mode=mode, actor=SYSTEM, now=utc_now())


def make_key(tenant: Tenant, *, scopes: Sequence[str] = all_scopes.ALL, **options: Any) -> str:
    issued = keys.issue(
        tenant=tenant, name="test", actor=SYSTEM, now=utc_now(), scopes=scopes, **options
    )
    return issued.text


class ApiClient(Client):
    """A client of one tenant's key: JSON in, JSON out, and every answer as documented."""

    def __init__(self, key: str | None = None) -> None:
        super().__init__(raise_request_exception=False)
        if key is not None:
            self.defaults["HTTP_AUTHORIZATION"] = f"Bearer {key}"

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        path, method = request["PATH_INFO"], request["REQUEST_METHOD"]
        faults = document.disagreements(method, path, response)
        assert not faults, f"openapi.yaml does not describe this answer: {faults}"
        return response

    def post_json(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.post(path, body, content_type="application/json", headers=headers or None)

    def patch_json(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.patch(path, body, content_type="application/json", headers=headers or None)


def make_endpoint(
    tenant: Tenant,
    *,
    url: str = "https://hooks.example.com/in",
    events: Sequence[str] = ("*",),
    secret: str | None = None,
    **fields: Any,
) -> WebhookEndpoint:
    """A registered endpoint, without the checks that registration makes of its URL."""
    endpoint = WebhookEndpoint(
        tenant=tenant, url=url, events=list(events), created_at=NOW, updated_at=NOW, **fields
    )
    endpoint.secret_token = crypto.encrypt(
        secret or signing.new_secret(), context=endpoint.encryption_context
    )
    endpoint.save(force_insert=True)
    return endpoint


def publish(
    tenant: Tenant, *, type: str = "payment.completed", now: datetime = NOW, **fields: Any
) -> str:
    """A payment event whose data is what most tests want, but for `fields`; returns its id."""
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
    return webhook_events.publish_payment(
        tenant_id=tenant.pk, type=type, data=PaymentData(**(values | fields)), now=now
    )


def publish_notice(tenant: Tenant, *, now: datetime = NOW) -> str:
    """The notice that the balance is low; returns its id."""
    data = BalanceLow(available_balance=5, pending_balance=0, low_balance_threshold=100)
    return webhook_events.publish_notice(tenant_id=tenant.pk, data=data, now=now)


def make_source(
    tenant: Tenant,
    *,
    account_number: str = "000123456789",
    routing_number: str = "021000021",
    holder_type: str = "business",
    actor: Actor = SYSTEM,
    now: datetime = NOW,
) -> FundingSource:
    """A bank account entered by hand: active in the sandbox unless the number says otherwise."""
    draft = drafts.enter(
        mode=tenant.mode,
        account_number=account_number,
        routing_number=routing_number,
        holder_name="Acme Inc",
        holder_type=holder_type,
        account_type="checking",
    )
    return linking.add(tenant_id=tenant.pk, draft=draft, actor=actor, now=now)


def make_linked_source(tenant: Tenant, *, word: str = "acme") -> FundingSource:
    """A bank account linked through the sandbox's provider."""
    draft = drafts.exchange(
        mode=tenant.mode,
        token=f"processor-sandbox-{word}",
        account_id="acc_1",
        holder_name="Acme Inc",
    )
    return linking.add(tenant_id=tenant.pk, draft=draft, actor=SYSTEM, now=NOW)


def make_funding(
    tenant: Tenant,
    source: FundingSource,
    *,
    status: FundingStatus = FundingStatus.RESERVED,
    amount: int = 25_000,
    method: FundingMethod = FundingMethod.ACH_DEBIT,
    trigger: Trigger = Trigger.TOPUP,
    **fields: Any,
) -> FundingTransaction:
    """A funding row in `status`, without the ledger and outbox rows its life would have left."""
    return FundingTransaction.objects.create(
        tenant=tenant,
        source=source,
        amount=amount,
        status=status,
        method=method,
        trigger=trigger,
        created_by_type=SYSTEM.type,
        network="sandbox",
        **{
            "created_at": NOW,
            "updated_at": NOW,
            f"{status}_at": NOW,
            "expected_availability_date": NOW.date(),
            **fields,
        },
    )


def make_member(tenant: Tenant, *, email: str, role: Role = Role.OWNER) -> User:
    membership = accounts.create_member(
        tenant_id=tenant.pk, email=email, role=role, password=None, actor=SYSTEM, now=NOW
    )
    return membership.user


def make_staff(
    email: str, powers: Sequence[str] | None = None, *, since: datetime = LONG_AGO, **fields: Any
) -> User:
    """Somebody who works for us `since` then, by the word of a command line, with these powers
    (`app.codename`); None: with all there are. Asked again, the same person."""
    if known := User.objects.filter(email=email).first():
        return known
    name = "Everything" if powers is None else f"May {' '.join(sorted(powers))}"
    group, is_new = Group.objects.get_or_create(name=name[:150])
    if is_new:
        every = Permission.objects.all()
        group.permissions.set(every if powers is None else _permissions(powers))
    if fields:
        User.objects.create_user(email=email, **fields)
    person = staff.grant(email=email, roles=[group.name], actor=SYSTEM, now=since)
    User.objects.filter(pk=person.pk).update(created_at=since)
    return User.objects.get(pk=person.pk)


def _permissions(powers: Sequence[str]) -> list[Permission]:
    rows = Permission.objects.select_related("content_type")
    return [row for row in rows if f"{row.content_type.app_label}.{row.codename}" in powers]


def browser_of(user: User, *, factor: str = "", minutes_ago: int = 0) -> Client:
    """A browser that `user` signed in with, as `enter_as` has it."""
    client = Client()
    enter_as(client, user, factor=factor, minutes_ago=minutes_ago)
    return client


def enter_as(client: Client, user: User, *, factor: str = "", minutes_ago: int = 0) -> None:
    """Give `client` a session as after signing in with a password, and with a second factor of the
    type `factor` (`totp`), minutes ago. In two statements, which by the form are many more."""
    session, now = SessionStore(), utc_now()
    proven_at = (now - timedelta(minutes=minutes_ago)).timestamp()
    session[SESSION_KEY] = user.pk
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session_life.begin(session, now=now)
    proofs = [{"method": "password", "at": proven_at}]
    if factor:
        proofs.append({"method": "mfa", "type": factor, "at": proven_at})
    session[AUTHENTICATION_METHODS_SESSION_KEY] = proofs
    session[AUTHENTICATION_METHODS_SESSION_KEY + "_user"] = user.pk
    session.create()
    client.cookies[settings.SESSION_COOKIE_NAME] = str(session.secret)


def stored_invitation() -> dict[str, Any]:
    """The only one, with the digest of its link, which the product does not read."""
    with owner.as_owner():
        return dict(Invitation.objects.values().get())


def session_of(client: Client) -> SessionStore:
    """The session that this browser's cookie opens."""
    return SessionStore.of_cookie(client.cookies[settings.SESSION_COOKIE_NAME].value)


def make_auto_funding(tenant: Tenant, **fields: Any) -> AutoFundingConfig:
    """Settings as saved: below $100.00, add $500.00 by ACH debit, never ask."""
    values: dict[str, Any] = {
        "enabled": True,
        "low_balance_threshold": 10_000,
        "funding_amount": 50_000,
        "funding_method": FundingMethod.ACH_DEBIT,
        "updated_at": NOW,
    }
    config = AutoFundingConfig.objects.create(tenant=tenant, **(values | fields))
    threshold = config.low_balance_threshold if config.enabled else None
    ledger.set_notify_below(tenant_id=tenant.pk, amount=threshold)
    return config


def notices_of(tenant: Tenant, type: str) -> list[dict[str, Any]]:
    """The data of the tenant's events of one type, oldest first."""
    events = WebhookEvent.objects.filter(tenant=tenant, type=type).order_by("pk")
    return [json.loads(bytes(event.body))["data"] for event in events]


def mails_of(tenant: Tenant, template: str) -> list[str]:
    """Whom a mail of this template was queued for, in alphabetical order."""
    mails = OutgoingEmail.objects.filter(tenant=tenant, template=template)
    return list(mails.order_by("to").values_list("to", flat=True))
