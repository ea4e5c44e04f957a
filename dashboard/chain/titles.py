"""What the page of a funding, a payment, an event or a delivery is called: an amount, the other
side and the day, by which people tell such pages apart."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from common import days
from common.ids import is_id
from common.money import format_cents
from dashboard.bank_accounts.names import bank_name
from funding import selectors as funding
from payments import selectors as payments
from webhooks import bodies
from webhooks.models import WebhookEvent


def day(at: datetime, *, now: datetime) -> str:
    """`Nov 12`, the Eastern day; with its year, unless that is the present one."""
    then, today = days.day_of(at), days.day_of(now)
    return f"{then:%b} {then.day}" + ("" if then.year == today.year else f", {then.year}")


def of_event(row: WebhookEvent, *, now: datetime) -> str:
    """`payment.completed · $1,200.00 to Northwind · Nov 12`; without money the moment. One query,
    none without money."""
    return f"{row.type} · {_about(row, now)}"


def of_delivery(row: WebhookEvent, url: str, *, now: datetime) -> str:
    """`payment.completed to hooks.acme.example · $1,200.00 to Northwind · Nov 12`. One query."""
    return f"{_sent(row, url)} · {_about(row, now)}"


def of_delivery_alone(row: WebhookEvent, url: str) -> str:
    """`payment.completed to hooks.acme.example · Nov 12, 2026, 10:00 AM EST`: for who may not see
    what the event says. No query."""
    return f"{_sent(row, url)} · {days.words(row.created_at)}"


def _sent(row: WebhookEvent, url: str) -> str:
    return f"{row.type} to {urlsplit(url).hostname or url}"


def _about(row: WebhookEvent, now: datetime) -> str:
    said = bodies.data_in(row.body)
    subject = row.payment_id or said.get("paymentId") or said.get("fundingTransactionId") or ""
    money = _money(row.tenant_id, subject, said)
    return f"{money} · {day(row.created_at, now=now)}" if money else days.words(row.created_at)


def _money(tenant_id: str, subject: str, said: Mapping[str, Any]) -> str:
    """`$1,200.00 to Northwind`, empty where the event is about no money of the tenant."""
    amount = format_cents(said["amount"]) if isinstance(said.get("amount"), int) else ""
    if not amount:
        return ""
    if is_id(subject, "pay"):
        found = payments.other_sides(tenant_id=tenant_id, payment_ids=[subject]).first()
        return f"{amount} to {found[1]}" if found else amount
    if is_id(subject, "ftx"):
        found = funding.other_sides(tenant_id=tenant_id, funding_ids=[subject]).first()
        return f"{amount} from {bank_name(found[1], found[2])}" if found else amount
    return amount
