"""The bank accounts of a tenant, as lists show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import lookalikes
from dashboard.bank_accounts.names import account_name
from dashboard.funding.methods import TEXTS
from dashboard.shell.badges import Badge
from funding import selectors
from funding.models import FundingMethod, FundingSource
from funding.services import debit_authorizations
from funding.states import SourceStatus
from networks import return_codes
from tenants.models import Mode

_SOURCE_BADGES = {
    SourceStatus.ACTIVE: Badge("Active", "good"),
    SourceStatus.PENDING_VERIFICATION: Badge("Needs verification", "warn"),
    SourceStatus.VERIFICATION_FAILED: Badge("Verification failed", "bad"),
    SourceStatus.ERRORED: Badge("Refused by the bank", "bad"),
    SourceStatus.REMOVED: Badge("Removed"),
}


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
    asks_for_agreement: bool
    asks_whose: bool
    advice: str
    added_at: datetime
    corrected_at: datetime | None

    @property
    def warning(self) -> str:
        """What to look at twice in the names of its bank and holder; may be empty."""
        return lookalikes.warning(self.name, self.holder)


def bank_account_line(row: FundingSource, *, mode: str = Mode.SANDBOX) -> BankAccountLine:
    """`mode` is the tenant's: a live tenant is asked for more. One query for an individual's
    account of a live tenant, otherwise none."""
    return BankAccountLine(
        id=row.pk,
        name=account_name(row),
        holder=row.account_holder_name,
        kind=f"{row.get_account_type_display()}, {row.get_type_display().lower()}",
        methods=", ".join(map(TEXTS.title, row.supported_methods)),
        badge=_source_badge(row),
        is_default=row.is_default,
        may_be_default=row.status == SourceStatus.ACTIVE and not row.is_default,
        waits_for_deposits=row.status == SourceStatus.PENDING_VERIFICATION,
        is_unauthorized=_is_unauthorized(row),
        asks_for_agreement=_asks_for_agreement(row, mode),
        asks_whose=mode == Mode.LIVE and not row.is_holder_known,
        advice=_source_advice(row),
        added_at=row.created_at,
        corrected_at=row.corrected_at,
    )


def _source_badge(row: FundingSource) -> Badge:
    if _is_unauthorized(row):
        return Badge("Not authorized", "warn")
    return _SOURCE_BADGES[SourceStatus(row.status)]


def _is_unauthorized(row: FundingSource) -> bool:
    """Whether it could be debited if its holder agreed again."""
    return row.status == SourceStatus.ACTIVE and row.authorization_ended_at is not None


def _asks_for_agreement(row: FundingSource, mode: str) -> bool:
    """Whether a program could not add money from it before its holder agrees."""
    if row.status != SourceStatus.ACTIVE or row.authorization_ended_at is not None:
        return False
    method = FundingMethod.ACH_DEBIT
    asks = debit_authorizations.is_asked_of(row, mode=mode, method=method)
    return asks and not debit_authorizations.is_ready(row.pk)


def _source_advice(row: FundingSource) -> str:
    """Why an account that cannot be used is not, and what to do."""
    if row.status == SourceStatus.VERIFICATION_FAILED:
        return _why_not_proven(row)
    if row.last_return_code and (row.status == SourceStatus.ERRORED or _is_unauthorized(row)):
        found = return_codes.lookup(row.last_return_code)
        return f"{found.title} ({found.code}). {found.advice}"
    return ""


def _why_not_proven(row: FundingSource) -> str:
    """Why its deposits proved nothing, and what to do. One query where no deposit came back."""
    if row.last_return_code:
        found = return_codes.lookup(row.last_return_code)
        return f"A deposit was returned: {found.title} ({found.code}). {found.advice}"
    if code := selectors.deposits_refused(row):
        return (
            f"The bank refused our deposits ({code}). Remove the account and add it again with the"
            " name and numbers exactly as the bank has them. If that fails too, contact support."
        )
    return "The two deposits were never confirmed. Remove this account and add it again."
