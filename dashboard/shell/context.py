"""What templates show: figures, lines and badges, ready to print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.urls import reverse

from balance.kinds import PostingType
from funding.models import FundingMethod, FundingSource, FundingTransaction, Trigger
from funding.services.topups import CANCELED_CODE
from funding.states import FundingStatus, SourceStatus
from networks import return_codes
from transfers.accounts import StoredAccount


@dataclass(frozen=True)
class Badge:
    """A status in one or two words; `tone` is neutral, info, good, warn or bad."""

    label: str
    tone: str = "neutral"


_POSTING_BADGES = {
    PostingType.CREDIT: Badge("Credit", "good"),
    PostingType.DEBIT: Badge("Debit", "bad"),
    PostingType.LOCK: Badge("Lock"),
    PostingType.UNLOCK: Badge("Unlock"),
    PostingType.SETTLEMENT: Badge("Settlement"),
}

# What the amount of a line cannot say: a settlement leaves the available balance as it was.
_HINTS = {
    PostingType.LOCK: "set aside",
    PostingType.UNLOCK: "released",
    PostingType.SETTLEMENT: "from locked",
}

_CAUSE_PAGES = {
    "funding_transaction": "dashboard:funding_detail",
    "payment": "dashboard:payment_detail",
}

_FUNDING_BADGES = {
    FundingStatus.RESERVED: Badge("Reserved"),
    FundingStatus.AWAITING_CONFIRMATION: Badge("Needs approval", "warn"),
    FundingStatus.PENDING: Badge("Submitted", "info"),
    FundingStatus.IN_TRANSIT: Badge("In transit", "info"),
    FundingStatus.COMPLETED: Badge("Completed", "good"),
    FundingStatus.FAILED: Badge("Failed", "bad"),
}

_SOURCE_BADGES = {
    SourceStatus.ACTIVE: Badge("Active", "good"),
    SourceStatus.PENDING_VERIFICATION: Badge("Needs verification", "warn"),
    SourceStatus.VERIFICATION_FAILED: Badge("Verification failed", "bad"),
    SourceStatus.ERRORED: Badge("Refused by the bank", "bad"),
    SourceStatus.REMOVED: Badge("Removed"),
}

METHOD_LABELS = {FundingMethod.ACH_DEBIT: "ACH debit", FundingMethod.RTP: "Request for payment"}
# When the money is there, where that is no matter of days.
SOON = {FundingMethod.RTP: "within seconds of the approval at the bank"}
_TRIGGER_LABELS = {
    Trigger.TOPUP: "Top-up",
    Trigger.AUTO_FUNDING: "Auto-funding",
    Trigger.STAFF: "Ballast staff",
}


@dataclass(frozen=True)
class TransactionLine:
    """One line of the statement. `change` is what happened to the available balance, or, for a
    settlement, to the locked one; cents. `hint` says which. `href` leads to what caused it, where
    that has a page; `who` is the other side of it, empty if there is none."""

    id: str
    href: str
    who: str
    description: str
    badge: Badge
    change: int
    hint: str
    available_after: int
    locked_after: int
    at: datetime


def transaction_line(row: Mapping[str, Any], *, who: str = "") -> TransactionLine:
    kind = PostingType(row["type"])
    return TransactionLine(
        id=row["id"],
        href=_cause(row["source_type"], row["source_id"]),
        who=who,
        description=row["description"] or kind.label,
        badge=_POSTING_BADGES[kind],
        change=row["available_delta"] or row["locked_delta"],
        hint=_HINTS.get(kind, ""),
        available_after=row["available_after"],
        locked_after=row["locked_after"],
        at=row["created_at"],
    )


def _cause(source_type: str, source_id: str) -> str:
    view = _CAUSE_PAGES.get(source_type)
    return reverse(view, args=(source_id,)) if view else ""


@dataclass(frozen=True)
class FundingLine:
    """One attempt to bring money in; `note` says in words what the badge cannot, `soon` what no
    date can."""

    id: str
    amount: int
    badge: Badge
    source: str
    how: str
    note: str
    expected_on: date | None
    soon: str
    at: datetime


def funding_line(row: FundingTransaction, *, stopped: Badge | None = None) -> FundingLine:
    """`stopped` says that operators have stopped sending funding of this tenant."""
    status = FundingStatus(row.status)
    kept_back = stopped is not None and status == FundingStatus.RESERVED
    soon = SOON.get(FundingMethod(row.method), "")
    is_going = row.is_going and not kept_back
    return FundingLine(
        id=row.pk,
        amount=row.amount,
        badge=stopped if stopped and kept_back else _funding_badge(row),
        source=account_name(row.source),
        how=f"{_TRIGGER_LABELS[Trigger(row.trigger)]}, {METHOD_LABELS[FundingMethod(row.method)]}",
        note=_note(row),
        expected_on=row.expected_availability_date if is_going and not soon else None,
        soon=soon if is_going else "",
        at=row.created_at,
    )


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


@dataclass(frozen=True)
class BankAccountLine:
    """One bank account; the number itself is never shown."""

    id: str
    name: str
    holder: str
    kind: str
    methods: str
    badge: Badge
    is_default: bool
    may_be_default: bool
    waits_for_deposits: bool
    is_unauthorized: bool
    advice: str
    added_at: datetime


def bank_account_line(row: FundingSource) -> BankAccountLine:
    return BankAccountLine(
        id=row.pk,
        name=account_name(row),
        holder=row.account_holder_name,
        kind=f"{row.get_account_type_display()}, {row.get_type_display().lower()}",
        methods=", ".join(METHOD_LABELS[FundingMethod(name)] for name in row.supported_methods),
        badge=_source_badge(row),
        is_default=row.is_default,
        may_be_default=row.status == SourceStatus.ACTIVE and not row.is_default,
        waits_for_deposits=row.status == SourceStatus.PENDING_VERIFICATION,
        is_unauthorized=_is_unauthorized(row),
        advice=_source_advice(row),
        added_at=row.created_at,
    )


def _source_badge(row: FundingSource) -> Badge:
    if _is_unauthorized(row):
        return Badge("Not authorized", "warn")
    return _SOURCE_BADGES[SourceStatus(row.status)]


def _is_unauthorized(row: FundingSource) -> bool:
    """Whether it could be debited if its holder agreed again."""
    return row.status == SourceStatus.ACTIVE and row.authorization_ended_at is not None


def _source_advice(row: FundingSource) -> str:
    """Why an account that cannot be used is not, and what to do."""
    if row.status == SourceStatus.VERIFICATION_FAILED:
        return "The two deposits were not proven. Remove it, then add it again."
    if row.last_return_code and (row.status == SourceStatus.ERRORED or _is_unauthorized(row)):
        found = return_codes.lookup(row.last_return_code)
        return f"{found.title} ({found.code}). {found.advice}"
    return ""


def account_name(account: StoredAccount) -> str:
    return bank_name(account.bank_name, account.last4)


def bank_name(name: str, last4: str) -> str:
    """`First Platypus Bank ··6789`, the digits on the line of the last word."""
    return f"{name or 'Bank account'}\N{NO-BREAK SPACE}··{last4}"
