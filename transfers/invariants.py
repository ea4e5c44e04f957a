"""What must hold between funding or payments and their networks: the rules that both share.

Each app names its rows and the codes of its findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db.models import QuerySet

from common.audits import Finding, Scope
from transfers import bank_books
from transfers.accounts import unsound
from transfers.inbox import reviews, settlements


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


def _finding(code: str, row: Any, message: str) -> Finding:
    return Finding(code=code, tenant_id=row.tenant_id, subject=row.pk, message=message)
