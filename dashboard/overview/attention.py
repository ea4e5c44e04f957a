"""What waits for a person: shown on the overview until it is done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import CharField, QuerySet
from django.urls import reverse

from approvals import selectors as approvals
from balance.selectors import Funds
from common.engine.compiled_rows import Rows
from common.money import format_cents
from dashboard.auto_funding import obstacles as auto_funding_obstacles
from dashboard.bank_accounts.names import account_name
from dashboard.payments.forms import SHORT_OF_MONEY
from dashboard.shell.stops import Stops
from funding import selectors as funding
from funding.models import AutoFundingConfig, FundingSource
from funding.services.auto_funding_checks import Declined
from funding.states import SourceStatus
from payments import selectors as payments
from webhooks import selectors as webhooks
from webhooks.models import WebhookEndpoint
from webhooks.states import EndpointStatus

_SHOWN_MAX = 5


@dataclass(frozen=True)
class Item:
    """One thing to do: a sentence, where to do it, and what to call the link."""

    text: str
    href: str
    action: str
    tone: str = "warn"


@dataclass(frozen=True)
class Rule:
    """A tenant's auto-funding beside its balance; `obstacle`: what keeps it from adding money."""

    config: AutoFundingConfig
    obstacle: Declined | None
    funds: Funds

    @property
    def is_low(self) -> bool:
        """Whether it should add money."""
        threshold = self.config.low_balance_threshold
        if not self.config.enabled or threshold is None:
            return False
        return self.funds.available + self.funds.pending < threshold


def items(*, tenant_id: str, now: datetime, rule: Rule, stopped: Stops) -> list[Item]:
    """The most urgent ones first, a few of each kind. Three queries, and one per kind of money."""
    return [
        *_stopped(stopped),
        *_approvals(tenant_id, now),
        *of_auto_funding(rule, now=now),
        *_waiting(tenant_id),
        *map(_source, _SOURCES.read(tenant_id=tenant_id)),
        *map(_endpoint, _ENDPOINTS.read(tenant_id=tenant_id)),
    ]


def _sources(tenant_id: str) -> QuerySet[FundingSource]:
    return funding.troubled_sources(tenant_id=tenant_id)[:_SHOWN_MAX]


def _endpoints(tenant_id: str) -> QuerySet[WebhookEndpoint]:
    return webhooks.troubled_endpoints(tenant_id=tenant_id)[:_SHOWN_MAX]


_SOURCES = Rows(_sources, tenant_id=CharField())
_ENDPOINTS = Rows(_endpoints, tenant_id=CharField())


def _stopped(stopped: Stops) -> list[Item]:
    found = ((stopped.funding, "dashboard:funding"), (stopped.payments, "dashboard:payments"))
    return [Item(text, reverse(page), "See what is waiting", "bad") for text, page in found if text]


def of_auto_funding(rule: Rule, *, now: datetime) -> list[Item]:
    """At most one: auto-funding is on and something keeps it from adding money."""
    found = rule.obstacle
    if found is None or not (rule.is_low or found.is_news):
        return []
    if not rule.is_low and found.reason.startswith("funding_source_"):
        return []  # the account says so itself
    page, why = reverse("dashboard:auto_funding"), auto_funding_obstacles.explained(found, now=now)
    if rule.is_low:
        text = f"Your balance is low, and auto-funding cannot add money. {why}"
        return [Item(text, page, "See why", "bad")]
    return [Item(f"Auto-funding cannot add money right now. {why}", page, "See why")]


def _waiting(tenant_id: str) -> list[Item]:
    """Payments that are sent as soon as there is money for them."""
    found = payments.waiting_for_money(tenant_id=tenant_id)
    if not found.count:
        return []
    amount = format_cents(found.cents)
    one = f"A payment of {amount} is waiting for money."
    text = (
        one
        if found.count == 1
        else f"{found.count} payments are waiting for money, {amount} in total."
    )
    query = urlencode({"status": SHORT_OF_MONEY})
    href = f"{reverse('dashboard:payments')}?{query}"
    return [Item(text, href, "See which")]


def _approvals(tenant_id: str, now: datetime) -> list[Item]:
    waiting = approvals.open_amounts(tenant_id=tenant_id, now=now)
    if not waiting:
        return []
    if len(waiting) >= approvals.OPEN_MAX:
        text = f"{approvals.OPEN_MAX} or more approvals are waiting."
        return [Item(text, reverse("dashboard:approvals"), "Open")]
    total = format_cents(sum(waiting.values()))
    if len(waiting) == 1:
        href = reverse("dashboard:approval", args=tuple(waiting))
        return [Item(f"{total} is waiting for approval.", href, "Open")]
    text = f"{len(waiting)} approvals are waiting, {total} in total."
    return [Item(text, reverse("dashboard:approvals"), "Open")]


def _source(row: FundingSource) -> Item:
    name = account_name(row)
    if row.status == SourceStatus.PENDING_VERIFICATION:
        text = f"Verify the two deposits to start using {name}."
        return Item(text, reverse("dashboard:bank_account_verify", args=(row.pk,)), "Verify")
    code = f" ({row.last_return_code})" if row.last_return_code else ""
    if row.status == SourceStatus.ACTIVE:
        text = f"The bank says that debits from {name} are not authorized{code}."
        page = reverse("dashboard:bank_account_authorize", args=(row.pk,))
        return Item(text, page, "See what to do", "bad")
    text = f"The bank refuses {name}{code}. Remove it and link it again."
    return Item(text, reverse("dashboard:bank_accounts"), "Bank accounts", "bad")


def _endpoint(row: WebhookEndpoint) -> Item:
    page = reverse("dashboard:webhook", args=(row.pk,))
    if row.status != EndpointStatus.ENABLED:
        return Item(f"Webhooks to {row.url} are switched off.", page, "View", "bad")
    tries = row.consecutive_failures
    times = "once" if tries == 1 else f"{tries} times in a row"
    return Item(f"Webhooks to {row.url} failed {times}.", page, "View")
