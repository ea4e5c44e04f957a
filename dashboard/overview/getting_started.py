"""The first steps of a new tenant, each ticked by what is really there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import CharField, Exists, QuerySet
from django.urls import reverse

from balance import selectors as ledger
from balance.kinds import PostingType
from common.engine.compiled_rows import Rows
from dashboard.shell.access import MONEY
from funding import selectors as funding
from funding.states import SourceStatus
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
class _Kind:
    """A step as every tenant has it. `name` is its field of `_Done`; `roles` do it on `page`."""

    name: str
    text: str
    why: str
    page: str
    roles: tuple[Role, ...] = MONEY

    def step(self, *, role: Role, is_done: bool) -> Step:
        href = reverse(f"dashboard:{self.page}") if role in self.roles else ""
        return Step(self.text, self.why, href, is_done)


_IN_ORDER = (
    _Kind(
        "account",
        "Add a bank account",
        "Connect it through your bank, or type its numbers.",
        "bank_accounts",
    ),
    _Kind(
        "verified",
        "Verify the account",
        "A connected account is verified at once. One that you typed gets two small deposits:"
        " tell us their amounts.",
        "bank_accounts",
    ),
    _Kind("money", "Add money", "This step is done when the first money has arrived.", "topup"),
    _Kind(
        "auto_funding",
        "Turn on auto-funding",
        "It adds money by itself when the balance falls below an amount that you choose.",
        "auto_funding_settings",
    ),
    _Kind(
        "key",
        "Create an API key",
        "Your programs sign in with it.",
        "api_key_issue",
        (Role.OWNER,),
    ),
    _Kind(
        "webhook",
        "Receive a webhook",
        "We tell your server about each payment. This step is done when it has answered.",
        "webhook_register",
        (Role.OWNER,),
    ),
)


@dataclass(frozen=True)
class _Done:
    """Which steps are done."""

    account: bool
    verified: bool
    money: bool
    auto_funding: bool
    key: bool
    webhook: bool


def steps(tenant: Tenant, *, role: Role, has_auto_funding: bool, now: datetime) -> list[Step]:
    """The steps in their order; none for who may do none of those that are open, so none once all
    are done, nor 30 days after the tenant was made where money has arrived. One query."""
    done = _done(tenant.pk, has_auto_funding=has_auto_funding)
    is_old = tenant.created_at < now - _SHOWN_FOR
    found = [kind.step(role=role, is_done=getattr(done, kind.name)) for kind in _IN_ORDER]
    has_some = any(step.href and not step.is_done for step in found)
    return found if has_some and not (is_old and done.money) else []


def _done(tenant_id: str, *, has_auto_funding: bool) -> _Done:
    ((account, verified, money, key, webhook),) = _FOUND.read(tenant_id=tenant_id)
    return _Done(account, verified, money, has_auto_funding, key, webhook)


def _found(tenant_id: str) -> QuerySet[Tenant, tuple[bool, ...]]:
    linked = funding.sources(tenant_id=tenant_id).exclude(status=SourceStatus.REMOVED)
    return Tenant.objects.filter(pk=tenant_id).values_list(
        Exists(linked),
        Exists(funding.usable_sources(tenant_id=tenant_id)),
        # However it came: from a bank account or from our support.
        Exists(ledger.transactions(tenant_id, types=(PostingType.CREDIT,))),
        Exists(tenants.api_keys(tenant_id=tenant_id)),
        Exists(webhooks.endpoints(tenant_id=tenant_id).exclude(last_success_at=None)),
    )


_FOUND = Rows(_found, tenant_id=CharField())
