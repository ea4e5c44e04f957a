"""What must hold between funding or payments and their networks: the rules that both share.

Each app names its rows and the codes of its findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from common import crypto
from common.audits import Finding, Scope
from networks.base import EventKind
from transfers import bank_books
from transfers.accounts import CORRECTABLE, AccountVersion, StoredAccount, unsound
from transfers.corrections import AccountBook
from transfers.inbox import reviews, settlements
from transfers.inbox.models import InboundOutcome


def with_banks(code: str, handed_over: QuerySet[Any]) -> Iterator[Finding]:
    """Find transfers for which the network's own books say something else. Raises Unanswered."""
    # Not those that were settled by hand: two people vouch for them, with the bank's reference.
    judged = handed_over.exclude(pk__in=settlements.settled_by_hand())
    for transfer, difference in bank_books.disputed(judged):
        yield _finding(code, transfer, difference)


def with_messages(
    code: str, open_rows: QuerySet[Any], scope: Scope, *, id_prefix: str
) -> Iterator[Finding]:
    """Find messages about open transfers that have waited for a person for too long."""
    overdue = reviews.overdue(id_prefix)
    rows = open_rows.filter(pk__in=overdue.values("instruction_id"))
    if scope.tenant_ids is not None:
        rows = rows.filter(tenant_id__in=scope.tenant_ids)
    found = {row.pk: row for row in rows}
    for event in overdue.filter(instruction_id__in=found).order_by("pk"):
        row = found[event.instruction_id]
        said = f"{event.kind} {event.event_id} waits for a person: {event.note}"
        yield _finding(code, row, f"is {row.status}, and {said}")


def with_approvals(
    name: str, at_odds: QuerySet[Any], unasked: QuerySet[Any], scope: Scope
) -> Iterator[Finding]:
    """Report approvals `at_odds` with the transfer they are about, their column `name`, and
    transfers that require an approval and have none."""
    if scope.tenant_ids is not None:
        at_odds = at_odds.filter(tenant_id__in=scope.tenant_ids)
        unasked = unasked.filter(tenant_id__in=scope.tenant_ids)
    code = f"{name}_confirmation"
    for approval in at_odds.select_related(name):
        transfer = getattr(approval, name)
        said = f"is {transfer.status}, {approval.pk} is {approval.decision}"
        yield _finding(code, transfer, said)
    for transfer in unasked:
        yield _finding(code, transfer, "requires confirmation, but nobody was asked")


def with_accounts(
    code: str, accounts: Iterable[Any], *, is_typed: Callable[[Any], bool]
) -> Iterator[Finding]:
    """Find accounts whose number cannot be decrypted, or is not the one that people see. `is_typed`
    says whether a person typed the number."""
    for account in accounts:
        if fault := unsound(account, is_typed=is_typed(account)):
            yield _finding(code, account, fault)


def with_versions(
    code: str,
    accounts: Iterable[StoredAccount],
    book: AccountBook[Any],
    *,
    is_typed: Callable[[Any], bool],
    is_about: Callable[[str, str], bool],
) -> Iterator[Finding]:
    """Find accounts that are not what their newest version says, or that changed without a bank's
    word. `is_about` says whether the instruction of an id went to the account of an id."""
    known = list(accounts)
    versions: dict[str, list[AccountVersion]] = {account.pk: [] for account in known}
    stored = book.versions._default_manager.filter(**{f"{book.key}__in": versions})
    for version in stored.select_related("event").order_by(book.key, "number"):
        versions[getattr(version, book.key)].append(version)
    for account in known:
        of_it = versions[account.pk]
        fault = _misnumbered(account, of_it) or next(
            filter(None, (_unfounded(account, each, is_typed, is_about) for each in of_it)), ""
        )
        if fault:
            yield _finding(code, account, fault)


def _misnumbered(account: StoredAccount, versions: Sequence[AccountVersion]) -> str:
    """Why an account cannot be in its version, or an empty string."""
    numbers = [version.number for version in versions]
    if numbers != (list(range(1, account.version + 1)) if account.version > 1 else []):
        return f"is in version {account.version}, and its versions are {numbers}"
    if not versions:
        return ""
    newest = versions[-1]
    same = all(getattr(account, name) == getattr(newest, name) for name in CORRECTABLE)
    if not same or account.corrected_at != newest.created_at:
        return "is not what its newest version says"
    try:
        is_right = account.in_clear().account_number == newest.in_clear().account_number
    except (crypto.Undecryptable, ValueError):
        return "its number does not open"
    return "" if is_right else "has another number than its newest version"


def _unfounded(
    account: StoredAccount,
    version: AccountVersion,
    is_typed: Callable[[Any], bool],
    is_about: Callable[[str, str], bool],
) -> str:
    """Why a version cannot be what a bank said, or an empty string."""
    if fault := unsound(version, is_typed=is_typed(account)):
        return f"version {version.number}: {fault}"
    event = version.event
    if event is None:
        return ""
    made_by = f"version {version.number} is the work of a message that"
    if (event.kind, event.code) != (EventKind.CORRECTED, version.code):
        return f"{made_by} says {event.kind} {event.code}"
    if event.outcome != InboundOutcome.APPLIED:
        return f"{made_by} was not applied"
    if not is_about(event.instruction_id, account.pk):
        return f"{made_by} is about {event.instruction_id}"
    return ""


def _finding(code: str, row: Any, message: str) -> Finding:
    return Finding(code=code, tenant_id=row.tenant_id, subject=row.pk, message=message)
