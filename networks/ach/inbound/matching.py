"""Which entry of ours a record from the bank is about.

Trace numbers come again after some days, so a trace alone names nothing: the account, the bank of
the account holder and (of returns) the amount have to be the same. Among several such entries the
one for which the record came in time is meant; if that leaves none or two, a person decides.
Source: Nacha Operating Rules, Appendix Four; trace numbers are unique in a file only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from common import crypto
from common.engine.lookups import one_of
from networks.ach import accounts
from networks.ach.inbound import deadlines
from networks.ach.models import AchEntry, InRecord
from networks.ach.models.inbound import RecordKind
from networks.ach.states import EntryStatus

_COLUMNS = (
    *("id", "trace_number", "routing_number", "account_fingerprint", "amount", "company_id"),
    *("settlement_date", "effective_date", "status", "instruction_id", "account_token"),
)
_TAKEN_ALL_THE_SAME = (
    "our bank refused the file of this entry, so that it goes again, and took it all the same:"
    " withdraw what took its place, and that of the others of its batch"
)


def raw(record: InRecord) -> str:
    """The record as it came, with its addenda, one a line. Raises common.crypto.Undecryptable."""
    return crypto.decrypt(record.raw_token, context=record.encryption_context)


class Candidate(NamedTuple):
    """An entry that has the trace number that a record names."""

    id: int
    trace_number: str
    routing_number: str
    account_fingerprint: str
    amount: int
    company_id: str
    settlement_date: date | None
    effective_date: date | None
    status: str
    instruction_id: str
    account_token: str

    @property
    def settled(self) -> date | None:
        """The day of settlement or, before we know it, the day that we asked for."""
        return self.settlement_date or self.effective_date


class Match(NamedTuple):
    """The entry, or why there is none."""

    entry_id: int | None
    why_not: str = ""


def candidates(records: Iterable[InRecord], *, rail_id: str) -> Mapping[str, list[Candidate]]:
    """The entries with the trace numbers that these records name, by trace number. One query."""
    found: dict[str, list[Candidate]] = defaultdict(list)
    traces = {record.original_trace for record in records} - {""}
    rows = AchEntry.objects.filter(one_of("trace_number", traces), rail_id=rail_id)
    rows = rows.exclude(trace_number="")  # the index says so, and PostgreSQL does not see it
    for row in rows.order_by("id").values_list(*_COLUMNS):
        found[row[1]].append(Candidate(*row))
    return found


def match(record: InRecord, of_its_trace: Sequence[Candidate], *, day: date) -> Match:
    """The entry that a return or a change is about. `day` is when it came."""
    if not of_its_trace:
        return Match(None, "no entry of ours has this trace number")
    came = record.settlement_day or day
    fitting = [each for each in of_its_trace if _is_same(record, each)]
    if not fitting:
        return Match(None, _difference(record, of_its_trace))
    fitting = [each for each in fitting if _is_young(each, came)]
    timely = [each for each in fitting if _is_timely(record, each, came)]
    chosen = timely or fitting
    if not chosen:
        return Match(None, "the entry with this trace number is too old, or settles later")
    if len(chosen) > 1:
        return Match(None, "two entries of ours fit it")
    return _as_match(record, chosen[0])


def _as_match(record: InRecord, chosen: Candidate) -> Match:
    if record.company_id and record.company_id.strip() != chosen.company_id.strip():
        return Match(None, "it names another company")
    if chosen.status == EntryStatus.REQUEUED:
        return Match(None, _TAKEN_ALL_THE_SAME)
    if chosen.status == EntryStatus.FROZEN:
        return Match(None, "the entry with this trace number was not sent")
    return Match(chosen.id)


def _is_same(record: InRecord, entry: Candidate) -> bool:
    """An amount says nothing in a notification of change, which has none."""
    return (
        accounts.is_of(entry, record.account_fingerprint)
        and record.rdfi_routing == entry.routing_number[:8]
        and (record.kind == RecordKind.NOC or record.amount == entry.amount)
    )


def _is_young(entry: Candidate, came: date) -> bool:
    """An answer comes after its entry, and not years later. A return by an operator may settle on
    the same day."""
    settled = entry.settled
    return settled is None or settled <= came <= settled + deadlines.OLDEST_ENTRY


def _is_timely(record: InRecord, entry: Candidate, came: date) -> bool:
    code = record.code if record.kind != RecordKind.NOC else ""
    return not deadlines.is_late(code, settled=entry.settled, returned=came)


def _difference(record: InRecord, of_its_trace: Sequence[Candidate]) -> str:
    """In what the record differs from the only entry with its trace number."""
    if len(of_its_trace) > 1:
        return "no entry with this trace number has the same account, bank and amount"
    entry = of_its_trace[0]
    differs = [
        word
        for word, is_equal in (
            ("account", accounts.is_of(entry, record.account_fingerprint)),
            ("bank", record.rdfi_routing == entry.routing_number[:8]),
            ("amount", record.kind == RecordKind.NOC or record.amount == entry.amount),
        )
        if not is_equal
    ]
    return f"the entry with this trace number has another {' and another '.join(differs)}"
