"""Payments as lists show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from dashboard.bank_accounts.names import account_name
from dashboard.payments.methods import TEXTS, words
from dashboard.shell import stops
from dashboard.shell.badges import Badge
from payments.models import Payment
from payments.states import PaymentStatus

BADGES = {
    PaymentStatus.WAITING_FOR_FUNDS: Badge("Waiting for money", "warn"),
    PaymentStatus.CREATED: Badge("Ready to send"),
    PaymentStatus.PROCESSING: Badge("On its way", "info"),
    PaymentStatus.COMPLETED: Badge("Completed", "good"),
    PaymentStatus.FAILED: Badge("Failed", "bad"),
    PaymentStatus.RETURNED: Badge("Returned", "bad"),
    PaymentStatus.CANCELED: Badge("Canceled"),
}
NEEDS_APPROVAL = Badge("Needs approval", "warn")
_ON_HOLD = Badge("On hold", "warn")
_HELD_BACK = Badge("Held back", "warn")


@dataclass(frozen=True)
class PaymentLine:
    """One payment; `note` says in words what the badge cannot, `soon` what no date can."""

    id: str
    amount: int
    badge: Badge
    to: str
    account: str
    how: str
    note: str
    expected_on: date | None
    soon: str
    at: datetime


def payment_line(row: Payment, *, is_stopped: bool = False) -> PaymentLine:
    """`is_stopped`: operators have stopped sending payments of this tenant."""
    kept_back = is_stopped and row.status == PaymentStatus.CREATED
    is_going = row.is_going and not kept_back
    soon = TEXTS.soon(row.method)
    return PaymentLine(
        id=row.pk,
        amount=row.amount,
        badge=_badge(row, kept_back=kept_back),
        to=row.recipient.display_name,
        account=account_name(row.recipient),
        how=words(row),
        note=_note(row),
        expected_on=row.expected_arrival_date if is_going and not soon else None,
        soon=soon if is_going else "",
        at=row.created_at,
    )


def _badge(row: Payment, *, kept_back: bool) -> Badge:
    if row.returned:
        return BADGES[PaymentStatus.RETURNED]
    if row.awaits_confirmation:
        return NEEDS_APPROVAL
    if row.held_at is not None and row.is_unsent:
        return _ON_HOLD
    if kept_back:
        return stops.BADGE
    return _HELD_BACK if row.held_back_at else BADGES[PaymentStatus(row.status)]


def _note(row: Payment) -> str:
    if row.returned:
        return f"{row.return_code}: {row.return_reason}"
    if row.status == PaymentStatus.CANCELED:
        return ""
    return row.failure_message
