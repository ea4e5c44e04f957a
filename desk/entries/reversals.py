"""Entries that are taken back by two people: one proposes it, another one approves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django import forms
from django.db import transaction
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.forms import ReasonField
from networks.ach import reversing
from networks.ach.models import AchEntry, AchReversal
from networks.ach.models.reversals import ReversalReason
from networks.ach.states import ReversalStatus

APPROVES = "ach.approve_achreversal"
PROPOSES = "ach.propose_achreversal"
SHOWN = 10
HOURS_MAX = 24  # after the discovery a reversal is too late (Nacha Operating Rules, 2.9.1)
_TONES = {
    ReversalStatus.PROPOSED: "warn",
    ReversalStatus.APPROVED: "info",
    ReversalStatus.REJECTED: "neutral",
    ReversalStatus.DONE: "good",
    ReversalStatus.FAILED: "bad",
}


class ReversalForm(forms.Form):
    """What was wrong with an entry, and since when we know."""

    why = forms.ChoiceField(
        choices=[("", "Choose"), *ReversalReason.choices],
        label="What was wrong",
        widget=UnfoldAdminSelectWidget,
    )
    hours = forms.IntegerField(
        min_value=0,
        max_value=HOURS_MAX,
        initial=0,
        label="Found out, hours ago",
        help_text="A reversal has to leave within 24 hours of finding out.",
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "numeric"}),
    )
    reason = ReasonField(label="In words")


@dataclass(frozen=True)
class ReversalLine:
    row: AchReversal
    tone: str
    proposed_by: str
    decided_by: str

    @property
    def is_live(self) -> bool:
        """Whether it keeps another one from being proposed."""
        return self.row.status not in (ReversalStatus.REJECTED, ReversalStatus.FAILED)


def of_entries(entries: list[AchEntry]) -> list[ReversalLine]:
    """The reversals of these entries, newest first. Three queries, one if there is none."""
    rows = list(AchReversal.objects.filter(entry__in=entries).order_by("-proposed_at")[:SHOWN])
    people = {row.proposed_by for row in rows} | {row.decided_by for row in rows}
    names = doers.names_of(people) if rows else {}
    return [
        ReversalLine(
            row,
            _TONES[ReversalStatus(row.status)],
            names.get(row.proposed_by, ""),
            names.get(row.decided_by, ""),
        )
        for row in rows
    ]


@transaction.atomic
def propose(
    *, entry: AchEntry, why: str, hours: int, note: str, doer: Doer, now: datetime
) -> AchReversal:
    """Ask another person to agree. Raises StaffRefusal."""
    reversal = reversing.propose(
        entry_id=entry.pk,
        reason=ReversalReason(why),
        discovered_at=now - timedelta(hours=hours),
        staff=doer.name,
        note=note,
        now=now,
    )
    _record("proposed", reversal, entry.instruction_id, doer, now, note)
    return reversal


def approve(*, reversal: AchReversal, doer: Doer, now: datetime) -> None:
    """Send the opposite entry. Raises StaffRefusal.

    The entry is handed over in a transaction of its own: `reversing.run` does what is left of it.
    """
    with transaction.atomic():
        approved = reversing.approve(reversal_id=reversal.pk, staff=doer.name, now=now)
        doers.require_second(doer, APPROVES, approved, proposes=PROPOSES)
        _record("approved", reversal, reversal.entry.instruction_id, doer, now)
    reversing.send(approved, now=now)


@transaction.atomic
def reject(*, reversal: AchReversal, doer: Doer, now: datetime) -> None:
    """Leave the entry as it is. Raises StaffRefusal."""
    reversing.reject(reversal_id=reversal.pk, staff=doer.name, now=now)
    _record("rejected", reversal, reversal.entry.instruction_id, doer, now)


def found_reversal(reversal_id: str) -> AchReversal:
    """Raises NotFound."""
    rows = AchReversal.objects.select_related("entry")
    found = rows.filter(pk=reversal_id).first() if "\0" not in reversal_id else None
    if found is None:
        raise NotFound("There is no such reversal.")
    return found


def _record(
    what: str,
    reversal: AchReversal,
    instruction_id: str,
    doer: Doer,
    now: datetime,
    note: str = "",
) -> None:
    doers.record(
        doer,
        f"ach_reversal.{what}",
        reversal.pk,
        now=now,
        note=note,
        instructionId=instruction_id,
        why=str(reversal.reason),
    )
