"""The first steps of a new tenant, each ticked by what is really there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists
from django.urls import reverse

from dashboard.shell.access import MONEY
from funding import selectors as funding
from funding.states import FundingStatus, SourceStatus
from tenants import selectors as tenants
from tenants.models import Role, Tenant
from webhooks import selectors as webhooks

# Whoever has added money and left a step out for so long does not want it.
_SHOWN_FOR = timedelta(days=30)


@dataclass(frozen=True)
class Step:
    """One step: what to do, why, and where. `href` is empty for a reader who may not do it."""

    text: str
    why: str
    href: str
    is_done: bool


@dataclass(frozen=True)
class _Done:
    """Which steps are done."""

    account: bool
    verified: bool
    money: bool
    auto_funding: bool
    key: bool
    webhook: bool

    @property
    def is_all(self) -> bool:
        return all(vars(self).values())


def steps(tenant: Tenant, *, role: Role, has_auto_funding: bool, now: datetime) -> list[Step]:
    """The steps in their order; none once all are done, nor 30 days after the tenant was made where
    money has arrived. One query."""
    done = _done(tenant.pk, has_auto_funding=has_auto_funding)
    is_old = tenant.created_at < now - _SHOWN_FOR
    if done.is_all or (is_old and done.money):
        return []
    return [
        Step(text, why, reverse(f"dashboard:{page}") if role in roles else "", is_done)
        for text, why, page, roles, is_done in _ordered(done)
    ]


def _ordered(done: _Done) -> list[tuple[str, str, str, tuple[Role, ...], bool]]:
    owner = (Role.OWNER,)
    return [
        (
            "Add a bank account",
            "Connect it through your bank, or type its numbers.",
            "bank_accounts",
            MONEY,
            done.account,
        ),
        (
            "Verify the account",
            "A connected account is verified at once. One that you typed gets two small deposits:"
            " tell us their amounts.",
            "bank_accounts",
            MONEY,
            done.verified,
        ),
        (
            "Add money",
            "This step is done when the first money has arrived.",
            "topup",
            MONEY,
            done.money,
        ),
        (
            "Turn on auto-funding",
            "It adds money by itself when the balance falls below an amount that you choose.",
            "auto_funding_settings",
            MONEY,
            done.auto_funding,
        ),
        (
            "Create an API key",
            "Your programs sign in with it.",
            "api_key_issue",
            owner,
            done.key,
        ),
        (
            "Receive a webhook",
            "We tell your server about each payment. This step is done when it has answered.",
            "webhook_register",
            owner,
            done.webhook,
        ),
    ]


def _done(tenant_id: str, *, has_auto_funding: bool) -> _Done:
    linked = funding.sources(tenant_id=tenant_id).exclude(status=SourceStatus.REMOVED)
    arrived = funding.attempts(tenant_id=tenant_id).filter(status=FundingStatus.COMPLETED)
    found = Tenant.objects.filter(pk=tenant_id).values_list(
        Exists(linked),
        Exists(funding.usable_sources(tenant_id=tenant_id)),
        Exists(arrived),
        Exists(tenants.api_keys(tenant_id=tenant_id)),
        Exists(webhooks.endpoints(tenant_id=tenant_id).exclude(last_success_at=None)),
    )
    account, verified, money, key, webhook = found.get()
    return _Done(account, verified, money, has_auto_funding, key, webhook)
