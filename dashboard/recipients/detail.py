"""One recipient, as its own page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.utils.text import capfirst

from common.money import format_cents
from dashboard.approvals.lines import ApprovalFact, approval_fact
from dashboard.bank_accounts.names import account_name
from dashboard.payments.lines import PaymentLine
from dashboard.recipients.lines import RecipientLine
from dashboard.shell import timeline
from dashboard.shell.timeline import Step
from payments.models import PaymentConfirmation, RecipientVersion
from payments.recipient_history import LAST_DAYS, Total, Totals
from tenants.models import AuditEvent
from transfers import corrections

# The actions of the audit log that everybody in the team may read here.
ACTIONS = (
    "recipient.saved",
    "recipient.renamed",
    "recipient.removed",
    "recipient.correction_noted",
)


@dataclass(frozen=True)
class TotalLine:
    """One row of the totals: the payments of which time or kind, how many, and their cents."""

    what: str
    total: Total


@dataclass(frozen=True)
class ApprovalLine:
    """One approval of a payment to the recipient."""

    id: str
    what: str
    fact: ApprovalFact | None
    asked_at: datetime


@dataclass(frozen=True)
class RecipientDetail:
    """`added_by` is empty where the audit log does not say it."""

    line: RecipientLine
    routing_number: str
    removed_at: datetime | None
    added_by: str
    totals: list[TotalLine]
    payments: list[PaymentLine]
    approvals: list[ApprovalLine]
    steps: list[Step]


def total_lines(totals: Totals) -> list[TotalLine]:
    """What was paid, over time; what is underway or came back only where there is any."""
    ever = [
        TotalLine(f"Last {LAST_DAYS} days", totals.last_days),
        TotalLine("This year", totals.this_year),
        TotalLine("All time", totals.ever),
    ]
    others = [
        TotalLine("On the way or waiting", totals.underway),
        TotalLine("Failed or returned", totals.came_back),
    ]
    return ever + [line for line in others if line.total.count]


def approval_lines(rows: Iterable[PaymentConfirmation]) -> list[ApprovalLine]:
    return [
        ApprovalLine(
            id=row.pk,
            what=f"Payment of {format_cents(row.amount)}",
            fact=approval_fact(row),
            asked_at=row.created_at,
        )
        for row in rows
    ]


def steps(
    events: Iterable[AuditEvent],
    versions: Sequence[RecipientVersion],
    names: Mapping[str, str],
) -> list[Step]:
    """What happened to it, oldest first: by people, and by its bank. `versions` begin with the
    first; `names` are those of people and keys."""
    found = [_step(event, names) for event in events]
    found += [_corrected(before, after) for before, after in pairwise(versions)]
    return sorted(found, key=lambda step: step.at)


def added_by(events: Iterable[AuditEvent], names: Mapping[str, str]) -> str:
    saved = (event for event in events if event.action == "recipient.saved")
    return next((timeline.who(row.actor_type, row.actor_id, names) for row in saved), "")


def _step(event: AuditEvent, names: Mapping[str, str]) -> Step:
    who = timeline.who(event.actor_type, event.actor_id, names)
    return Step(_what(event), who, "", event.created_at)


def _what(event: AuditEvent) -> str:
    if event.action == "recipient.renamed":
        return f"Renamed to {event.details.get('name', '')}"
    if event.action == "recipient.correction_noted":
        code = event.details.get("code", "")
        return f"The bank sent a note ({code}). It changes nothing about the account"
    return "Removed" if event.action == "recipient.removed" else "Added"


def _corrected(before: RecipientVersion, after: RecipientVersion) -> Step:
    """`Account number corrected: First Platypus Bank ··6789 → First Platypus Bank ··4321`."""
    what = capfirst(corrections.words(after.code) or "details")
    changes = "; ".join(_changes(before, after))
    said = f"{what} corrected" + (f": {changes}" if changes else "")
    return Step(said, "The recipient's bank", after.code, after.created_at)


def _changes(before: RecipientVersion, after: RecipientVersion) -> Iterator[str]:
    """What is different and may be shown: of numbers only their last digits."""
    if account_name(before) != account_name(after):
        yield f"{account_name(before)} → {account_name(after)}"
    if before.routing_number != after.routing_number:
        yield f"routing number {before.routing_number} → {after.routing_number}"
    if before.account_type != after.account_type:
        kinds = (row.get_account_type_display().lower() for row in (before, after))
        yield " → ".join(kinds)
