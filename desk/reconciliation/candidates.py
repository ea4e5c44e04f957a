"""What a line in suspense may have been, as choices for whoever says what it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from common.days import day_of
from common.money import signed_cents
from desk.reconciliation import shown
from desk.reconciliation.shown import SHOWN
from reconciliation import clearable
from reconciliation.models import BookedLine, ClearingKind


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One choice, and what proves it: `other` of an offset, `adjustment_id`, or `expected_line` of
    a transfer. Nothing proves a fee or income."""

    kind: ClearingKind
    words: str
    note: str = ""
    other: BookedLine | None = None
    adjustment_id: str = ""
    expected_line: int | None = None

    @property
    def value(self) -> str:
        """As a form sends it."""
        proof = self.other.pk if self.other else self.adjustment_id or self.expected_line
        return f"{self.kind.value}:{proof}" if proof else self.kind.value


@dataclass(frozen=True, kw_only=True)
class Group:
    """Choices of one kind. `none` says what to do where there are none."""

    title: str
    choices: Sequence[Candidate]
    none: str = ""

    @property
    def is_full(self) -> bool:
        """Whether there may be more than are shown."""
        return len(self.choices) == SHOWN


def groups(booked: BookedLine) -> list[Group]:
    """All that the line may have been by its amount, 50 of each kind at most."""
    return [_of_ours(booked), _adjustments(booked), _transfers(booked), _offsets(booked)]


def _of_ours(booked: BookedLine) -> Group:
    kind = ClearingKind.INCOME if booked.amount > 0 else ClearingKind.FEE
    return Group(title="Ours", choices=[Candidate(kind=kind, words=kind.label)])


def _adjustments(booked: BookedLine) -> Group:
    return Group(
        title="A tenant’s, by an adjustment",
        choices=[
            Candidate(
                kind=ClearingKind.ADJUSTMENT,
                adjustment_id=row.pk,
                words=f"{row.tenant.name}, {day_of(row.created_at):%b %-d, %Y}",
                note=row.reason,
            )
            for row in clearable.adjustments(booked)[:SHOWN]
        ],
        none=(
            f"No adjustment of a live tenant by {signed_cents(booked.amount)} waits for its line."
            " If the money is a tenant’s, propose one first."
        ),
    )


def _transfers(booked: BookedLine) -> Group:
    rows = shown.nearest(clearable.transfers(booked), booked.line.statement.last_day)
    return Group(
        title="A transfer that the books learned of later",
        choices=[
            Candidate(
                kind=ClearingKind.LEDGER,
                expected_line=line.line,
                words=f"{line.what}, {line.counts_on:%b %-d, %Y}",
                note=f"{line.reference} {line.source_id}".strip(),
            )
            for line in shown.books_lines(rows)
        ],
        none="No transfer of this amount waits for its line.",
    )


def _offsets(booked: BookedLine) -> Group:
    return Group(
        title="Undone by another line of the bank",
        choices=[
            Candidate(
                kind=ClearingKind.OFFSET,
                other=row,
                words=f"{row.line.statement.last_day:%b %-d, %Y}, line {row.line.position}",
                note=", ".join(map(str, row.line.references.values())),
            )
            for row in clearable.offsets(booked)[:SHOWN]
        ],
        none="No line in suspense comes to zero with this one.",
    )
