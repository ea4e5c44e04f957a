"""Attempts to bring money in, as lists show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from dashboard.bank_accounts.names import account_name
from dashboard.funding.methods import TEXTS
from dashboard.shell.badges import Badge
from funding.models import FundingTransaction, Trigger
from funding.services.topups import CANCELED_CODE
from funding.states import FundingStatus

_FUNDING_BADGES = {
    FundingStatus.RESERVED: Badge("Reserved"),
    FundingStatus.AWAITING_CONFIRMATION: Badge("Needs approval", "warn"),
    FundingStatus.PENDING: Badge("Submitted", "info"),
    FundingStatus.IN_TRANSIT: Badge("In transit", "info"),
    FundingStatus.COMPLETED: Badge("Completed", "good"),
    FundingStatus.FAILED: Badge("Failed", "bad"),
}

_TRIGGER_LABELS = {
    Trigger.TOPUP: "Top-up",
    Trigger.AUTO_FUNDING: "Auto-funding",
    Trigger.STAFF: "Our support",
}


@dataclass(frozen=True)
class FundingLine:
    """One attempt to bring money in; `what_for` is what somebody wrote about it, `note` says in
    words what the badge cannot, `soon` what no date can."""

    id: str
    amount: int
    badge: Badge
    source: str
    how: str
    what_for: str
    note: str
    expected_on: date | None
    soon: str
    at: datetime


def funding_line(row: FundingTransaction, *, stopped: Badge | None = None) -> FundingLine:
    """`stopped` says that operators have stopped sending funding of this tenant."""
    status = FundingStatus(row.status)
    kept_back = stopped is not None and status == FundingStatus.RESERVED
    soon = TEXTS.soon(row.method)
    is_going = row.is_going and not kept_back
    return FundingLine(
        id=row.pk,
        amount=row.amount,
        badge=stopped if stopped and kept_back else _funding_badge(row),
        source=account_name(row.source),
        how=f"{_started(row)}, {TEXTS.title(row.method, row.speed)}",
        what_for="" if row.trigger == Trigger.AUTO_FUNDING else row.description,
        note=_note(row),
        expected_on=row.expected_availability_date if is_going and not soon else None,
        soon=soon if is_going else "",
        at=row.created_at,
    )


def _started(row: FundingTransaction) -> str:
    return _TRIGGER_LABELS[Trigger(row.trigger)] if row.retry_of_id is None else "Retry"


def _funding_badge(row: FundingTransaction) -> Badge:
    """The status; of a failure also whose doing it was, where that is no bad news."""
    if row.returned:
        return Badge("Returned", "bad")
    if row.failure_code == CANCELED_CODE:
        return Badge("Canceled")
    return _FUNDING_BADGES[FundingStatus(row.status)]


def _note(row: FundingTransaction) -> str:
    if row.returned:
        return f"{row.return_code}: {row.return_reason}"
    return row.failure_message
