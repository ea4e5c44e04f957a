"""Proposals as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.urls import reverse

from common import lookalikes
from common.money import format_cents
from desk import doers
from networks.ach.models import AchProposal
from networks.ach.models.proposals import ProposalKind
from networks.ach.states import ProposalStatus
from tenants import selectors

SHOWN = 20
_EFFECTS = {
    ProposalKind.AT_BANK: (
        "The file counts as sent then. What the bank does not have is lost: nobody sends it."
    ),
    ProposalKind.NOT_AT_BANK: (
        "The file goes again then, or its entries with the next one. If the bank has it after all,"
        " all of its money moves twice."
    ),
    ProposalKind.ORIGINATOR: "Entries go out in this name and within these limits from then on.",
    ProposalKind.END_ORIGINATOR: (
        "Nothing more is taken in this name. The tenant uses the common company, and its limits."
    ),
    ProposalKind.RELEASE_DEBITS: "New debits are taken then, and the rates count anew.",
    ProposalKind.DISMISS_STATEMENT: (
        "The file is never taken. The days after it wait until the bank sends another one for it."
    ),
    ProposalKind.TAKE_STATEMENT: (
        "Approved, its lines count as what the bank says, and days close by them: compare them"
        " with the bank's own page first. Rejected, this upload is never taken. A file that the"
        " bank itself sends is taken in either case."
    ),
}
# The same, told to whoever has just approved it.
_DONE = {
    ProposalKind.AT_BANK: "Approved: the file counts as sent.",
    ProposalKind.NOT_AT_BANK: "Approved: the file goes again, or its entries with the next one.",
    ProposalKind.ORIGINATOR: "Approved: entries go out in this name and within these limits.",
    ProposalKind.END_ORIGINATOR: (
        "Approved: nothing more is taken in this name, and the tenant uses the common company."
    ),
    ProposalKind.RELEASE_DEBITS: "Approved: new debits are taken, and the rates count anew.",
    ProposalKind.DISMISS_STATEMENT: "Approved: the statement is never taken.",
    ProposalKind.TAKE_STATEMENT: "Approved: a worker takes the statement now.",
}
_LIMITS = {
    "daily_debit_max": "Debits a day, at most",
    "daily_credit_max": "Credits a day, at most",
    "exposure_max": "Sent and not final, at most",
}
_NAMES = {"company_name": "Company name", "company_id": "Company id"}


@dataclass(frozen=True)
class Change:
    label: str
    before: str
    after: str


@dataclass(frozen=True)
class ProposalLine:
    row: AchProposal
    proposed_by: str
    decided_by: str
    whose: str

    @property
    def effect(self) -> str:
        return _EFFECTS[ProposalKind(self.row.kind)]

    @property
    def done(self) -> str:
        """What an approval has done."""
        return _DONE[ProposalKind(self.row.kind)]

    @property
    def is_upload(self) -> bool:
        return self.row.kind == ProposalKind.TAKE_STATEMENT

    @property
    def is_about_file(self) -> bool:
        return self.row.kind in {
            ProposalKind.TAKE_STATEMENT,
            ProposalKind.AT_BANK,
            ProposalKind.NOT_AT_BANK,
            ProposalKind.DISMISS_STATEMENT,
        }

    @property
    def address(self) -> str:
        """The page of what it is about."""
        if self.is_upload or self.row.kind == ProposalKind.DISMISS_STATEMENT:
            return reverse("desk:exception_file", args=[self.row.subject])
        if self.is_about_file:
            return reverse("desk:file", args=[self.row.subject])
        return reverse("desk:rail", args=[self.row.rail_id])

    @property
    def why(self) -> str:
        """Why debits were stopped."""
        return str(self.row.before.get("why", ""))

    @property
    def warning(self) -> str:
        """What to look at twice in the name, which somebody else chose; may be empty."""
        return lookalikes.warning(self.whose)

    @property
    def changes(self) -> list[Change]:
        """What would be different of a company."""
        row = self.row
        if row.kind != ProposalKind.ORIGINATOR:
            return []
        lines = [
            Change(label, str(row.before.get(name, "–")), str(row.after[name]))
            for name, label in _NAMES.items()
        ]
        lines += [
            Change(label, _limit(row.before, name), _limit(row.after, name))
            for name, label in _LIMITS.items()
        ]
        return [line for line in lines if line.before != line.after]


def open_ones() -> QuerySet[AchProposal]:
    """The oldest first."""
    waiting = AchProposal.objects.filter(status=ProposalStatus.PROPOSED)
    return waiting.order_by("proposed_at", "pk")


def of_rail(name: str) -> list[ProposalLine]:
    """What waits for a second person. Three queries, one if nothing does."""
    return lines_of(list(open_ones().filter(rail=name)[:SHOWN]))


def of_subject(subject: str) -> list[ProposalLine]:
    """What was proposed about a file or an originator, newest first."""
    rows = AchProposal.objects.filter(subject=subject).order_by("-proposed_at", "-pk")
    return lines_of(list(rows[:SHOWN]))


def lines_of(rows: Sequence[AchProposal]) -> list[ProposalLine]:
    if not rows:
        return []
    people = {row.proposed_by for row in rows} | {row.decided_by for row in rows}
    names = doers.names_of(people)
    tenants = selectors.tenant_names([row.tenant_id for row in rows if row.tenant_id])
    return [
        ProposalLine(
            row,
            names.get(row.proposed_by, ""),
            names.get(row.decided_by, ""),
            tenants.get(row.tenant_id, row.tenant_id) or "All other tenants",
        )
        for row in rows
    ]


def _limit(company: dict[str, int | None], name: str) -> str:
    if name not in company:
        return "–"
    cents = company[name]
    return "no limit" if cents is None else format_cents(cents)
