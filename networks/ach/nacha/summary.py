"""What a file holds and what is wrong with it, in one object of a bounded size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from networks.ach.nacha import codes
from networks.ach.nacha.faults import Fault, Scope
from networks.ach.nacha.items import Event
from networks.ach.nacha.records import (
    Addenda98,
    Addenda98Refused,
    Addenda99,
    Addenda99Contested,
    Addenda99Dishonored,
    BatchHeader,
    EntryDetail,
)

FAULTS_KEPT = 1_000


@dataclass
class Summary:
    """Counts of entry detail records, of those with addenda 99 and 98, and their sums in cents.

    Only the first faults and notes are kept; `fault_count` counts them all.
    """

    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    fault_count: int = 0
    secs: set[str] = field(default_factory=set)
    entries: int = 0
    returns: int = 0
    nocs: int = 0
    debit: int = 0
    credit: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; notes are no faults."""
        return not self.fault_count

    def add(self, event: Event) -> None:
        if isinstance(event, Fault):
            self._add_fault(event)
        elif isinstance(event.record, EntryDetail):
            self._add_entry(event.record, event.addenda)
        elif isinstance(event.record, BatchHeader):
            self.secs.add(event.record.standard_entry_class_code)

    def _add_fault(self, fault: Fault) -> None:
        is_note = fault.scope is Scope.NOTE
        self.fault_count += not is_note
        kept = self.notes if is_note else self.faults
        if len(kept) < FAULTS_KEPT:
            kept.append(fault)

    def _add_entry(self, detail: EntryDetail, addenda: tuple[object, ...]) -> None:
        self.entries += 1
        if detail.transaction_code in codes.DEBITS:
            self.debit += detail.amount
        else:
            self.credit += detail.amount
        if addenda:
            first = addenda[0]
            self.returns += isinstance(first, Addenda99 | Addenda99Dishonored | Addenda99Contested)
            self.nocs += isinstance(first, Addenda98 | Addenda98Refused)


def summarize(events: Iterable[Event]) -> Summary:
    summary = Summary()
    for event in events:
        summary.add(event)
    return summary
