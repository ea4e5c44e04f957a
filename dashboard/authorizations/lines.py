"""Authorizations of debits, as lists, pages and the CSV file show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from api.downloads import Cell
from common import clock
from dashboard.bank_accounts.names import account_name
from dashboard.shell import timeline
from dashboard.shell.badges import Badge
from funding.models import AuthorizationKind, AuthorizationScope, DebitAuthorization
from funding.services import debit_authorizations
from networks import return_codes

_ENDS = {
    debit_authorizations.REVOKED: "Revoked",
    debit_authorizations.REPLACED: "Replaced by a newer one",
    debit_authorizations.ACCOUNT_REMOVED: "The bank account was removed",
}
CSV_HEADER = (
    "id",
    "acceptedAt",
    "accountHolder",
    "bankName",
    "accountLast4",
    "routingNumber",
    "kind",
    "scope",
    "amountRule",
    "amountMax",
    "monthlyMax",
    "text",
    "textVersion",
    "givenBy",
    "givenById",
    "ipAddress",
    "recordedAt",
    "howToRevoke",
    "endedAt",
    "endedBecause",
    "endedBy",
    "debits",
)


@dataclass(frozen=True)
class AuthorizationLine:
    """One authorization in words."""

    id: str
    account: str
    holder: str
    what: str
    rule: str
    given_by: str
    address: str
    at: datetime
    badge: Badge
    end: str
    ended_at: datetime | None
    may_revoke: bool


def line(
    row: DebitAuthorization, *, names: Mapping[str, str], has_served: bool
) -> AuthorizationLine:
    """`names` are those of the people and keys who gave it; `has_served`: it has a debit."""
    return AuthorizationLine(
        id=row.pk,
        account=account_name(row.source),
        holder=row.source.account_holder_name,
        what=_what(row),
        rule=row.amount_rule,
        given_by=timeline.who(row.accepted_by_type, row.accepted_by_id, names),
        address=row.address,
        at=row.accepted_at,
        badge=_badge(row, has_served),
        end=_end(row),
        ended_at=row.ended_at,
        may_revoke=row.is_in_force,
    )


def csv_rows(
    rows: Iterable[DebitAuthorization], *, names: Mapping[str, str]
) -> Iterator[list[Cell]]:
    """What proves each authorization to a bank that asks."""
    for row in rows:
        source = row.source
        yield [
            row.pk,
            clock.text_of(row.accepted_at),
            source.account_holder_name,
            source.bank_name,
            source.last4,
            source.routing_number,
            row.kind,
            row.scope,
            row.amount_rule,
            row.amount_max,
            row.monthly_max,
            row.text,
            row.text_version,
            timeline.who(row.accepted_by_type, row.accepted_by_id, names),
            row.accepted_by_id,
            row.address,
            clock.text_of(row.created_at),
            row.revocation,
            clock.text_of(row.ended_at) if row.ended_at else "",
            _end(row),
            timeline.who(row.ended_by_type, row.ended_by_id, names) if row.ended_at else "",
            " ".join(debit.funding_id for debit in row.debits.all()),
        ]


def _what(row: DebitAuthorization) -> str:
    if row.kind == AuthorizationKind.SINGLE:
        return "One top-up"
    return AuthorizationScope(row.scope).label


def _badge(row: DebitAuthorization, has_served: bool) -> Badge:
    if row.ended_at is not None:
        return Badge("Ended")
    if row.kind == AuthorizationKind.SINGLE and has_served:
        return Badge("Used", "info")
    return Badge("In force", "good")


def _end(row: DebitAuthorization) -> str:
    """Why it ended, in words; empty while it has not."""
    if not row.ended_because:
        return ""
    if row.ended_because in _ENDS:
        return _ENDS[row.ended_because]
    code = return_codes.lookup(row.ended_because)
    return f"The bank answered {code.code}, {code.title.lower()}"
