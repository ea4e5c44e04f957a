"""What waits for a person: shown on the overview until it is done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from approvals import decisions
from common.money import format_cents
from dashboard.context import account_name
from funding import selectors as funding
from funding.models import FundingSource
from funding.states import SourceStatus
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


def items(*, tenant_id: str, now: datetime) -> list[Item]:
    """The most urgent ones first, a few of each kind. Two queries, and one per kind of money."""
    return [
        *_approvals(tenant_id, now),
        *(_source(row) for row in funding.troubled_sources(tenant_id=tenant_id)[:_SHOWN_MAX]),
        *(_endpoint(row) for row in webhooks.troubled_endpoints(tenant_id=tenant_id)[:_SHOWN_MAX]),
    ]


def _approvals(tenant_id: str, now: datetime) -> list[Item]:
    waiting = decisions.unanswered(tenant_id=tenant_id, now=now)
    if not waiting:
        return []
    if len(waiting) >= decisions.OPEN_MAX:
        text = f"{decisions.OPEN_MAX} approvals or more wait."
        return [Item(text, reverse("dashboard:approvals"), "Open")]
    total = format_cents(sum(view.amount for view in waiting))
    if len(waiting) == 1:
        (view,) = waiting
        href = reverse("dashboard:approval", args=(view.id,))
        return [Item(f"{total} waits for an approval.", href, "Open")]
    text = f"{len(waiting)} approvals wait, {total} in all."
    return [Item(text, reverse("dashboard:approvals"), "Open")]


def _source(row: FundingSource) -> Item:
    name = account_name(row)
    if row.status == SourceStatus.PENDING_VERIFICATION:
        text = f"{name} cannot be used before its two deposits are verified."
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
        return Item(f"Webhooks to {row.url} are switched off.", page, "Look at it", "bad")
    tries = row.consecutive_failures
    times = "once" if tries == 1 else f"{tries} times in a row"
    return Item(f"Webhooks to {row.url} failed {times}.", page, "Look at it")
