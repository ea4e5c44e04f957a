"""What a search found, in words: one line and one link for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from api.models import ApiRequest
from approvals.models import Approval
from common.clock import utc_now
from common.money import format_cents
from dashboard.approvals.lines import approval_fact
from dashboard.bank_accounts.lines import bank_account_line
from dashboard.bank_accounts.names import account_name
from dashboard.developers.api_keys.lines import key_line
from dashboard.developers.requests.lines import request_line
from dashboard.developers.webhooks.lines import delivery_line, event_line
from dashboard.find.pages import Page
from dashboard.funding.lines import funding_line
from dashboard.payments.lines import payment_line
from dashboard.shell.badges import Badge
from dashboard.statement.lines import transaction_line
from funding.models import DebitAuthorization, FundingSource, FundingTransaction
from payments.models import Payment, Recipient
from tenants.models import ApiKey
from webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent


@dataclass(frozen=True)
class Hit:
    """One line of the results. `note` says more about it; `at` is when it was made."""

    href: str
    title: str
    note: str = ""
    badge: Badge | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Group:
    """Hits of one kind."""

    title: str
    hits: Sequence[Hit]


def of_page(page: Page) -> Hit:
    return Hit(reverse(page.view), page.title)


def of_funding(row: FundingTransaction) -> Hit:
    """`row` with its bank account."""
    line = funding_line(row)
    title = f"{format_cents(line.amount)} from {line.source}"
    return _hit("funding_detail", line.id, title, note=line.how, badge=line.badge, at=line.at)


def of_payment(row: Payment) -> Hit:
    """`row` with its recipient."""
    line = payment_line(row)
    title = f"{format_cents(line.amount)} to {line.to}"
    return _hit("payment_detail", line.id, title, note=line.how, badge=line.badge, at=line.at)


def of_recipient(row: Recipient) -> Hit:
    badge = Badge("Removed") if row.removed_at else None
    note = account_name(row)
    return _hit("recipient", row.pk, row.display_name, note=note, badge=badge, at=row.created_at)


def of_bank_account(row: FundingSource) -> Hit:
    line = bank_account_line(row)
    href = reverse("dashboard:bank_accounts")
    return Hit(href, line.name, note=line.holder, badge=line.badge, at=line.added_at)


def of_transaction(row: Mapping[str, Any]) -> Hit:
    """A line of the ledger."""
    line = transaction_line(row)
    href = _list("transactions", search=line.id)
    title = f"{format_cents(row['amount'])} {line.badge.label.lower()}"
    return Hit(href, title, note=line.description, at=line.at)


def of_event(row: WebhookEvent) -> Hit:
    line = event_line(row)
    return _hit("event", line.id, line.type, note=line.meaning, at=line.at)


def of_delivery(row: WebhookDelivery) -> Hit:
    """`row` with its event."""
    line = delivery_line(row)
    return _hit("delivery", line.id, line.type, note=line.answer, badge=line.badge, at=line.at)


def of_endpoint(row: WebhookEndpoint) -> Hit:
    return _hit("webhook", row.pk, row.url, note=row.description, at=row.created_at)


def of_request(row: ApiRequest) -> Hit:
    """`row` with its key."""
    line = request_line(row)
    title = f"{line.method} {line.path}"
    return _hit("request", line.id, title, note=line.request_id, badge=line.badge, at=line.at)


def of_authorization(row: DebitAuthorization) -> Hit:
    """`row` with its bank account."""
    title = f"Debits of {account_name(row.source)}"
    badge = Badge("In force", "good") if row.is_in_force else Badge("Ended")
    return _hit(
        "authorization", row.pk, title, note=row.amount_rule, badge=badge, at=row.created_at
    )


def of_approval(row: Approval) -> Hit:
    """`row` with its bank account."""
    fact = approval_fact(row)
    title = f"{format_cents(row.amount)}, {row.account.account_holder_name}"
    return _hit("approval", row.pk, title, badge=fact and fact.badge, at=row.created_at)


def of_key(row: ApiKey) -> Hit:
    line = key_line(row, now=utc_now())
    href = reverse("dashboard:api_keys")
    return Hit(href, line.name, note=f"{line.prefix}…", badge=line.badge, at=line.created_at)


def _hit(view: str, pk: str, title: str, **more: Any) -> Hit:
    return Hit(reverse(f"dashboard:{view}", args=[pk]), title, **more)


def _list(view: str, **narrowed_by: str) -> str:
    return f"{reverse(f'dashboard:{view}')}?{urlencode(narrowed_by)}"
