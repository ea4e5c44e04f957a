"""What a bank says to our dishonored returns: it contests them, or sends the return corrected.

After that there is nothing more between the banks (Nacha Operating Rules, 2.12.5).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from common.engine.lookups import one_of
from networks import return_codes
from networks.ach.inbound import matching, returns
from networks.ach.inbound.outcomes import Outcome, applied, review
from networks.ach.models import AchEntry, AchEvent, InRecord
from networks.ach.models.events import AchEventKind
from networks.ach.models.inbound import RecordKind
from networks.ach.models.replies import ReplyKind
from networks.ach.states import EntryStatus, ReplyStatus

_RETURNS = (RecordKind.RETURN, RecordKind.CORRECTED_RETURN)
_TOLD = (ReplyStatus.FROZEN, ReplyStatus.ACCEPTED)


def apply(records: Sequence[InRecord], *, rail_id: str, day: date, now: datetime) -> list[Outcome]:
    """Apply new answers in order; gives what became of each."""
    firsts = _dishonored(records, rail_id)
    outcomes: list[Outcome] = []
    for record in records:
        first = firsts.get(record.information)
        if first is None:
            outcomes.append(review(record, "we dishonored no such return", day=day))
            continue
        entry = _entry(record, first, rail_id=rail_id, day=day)
        if entry is None:
            note = "the return that it is about matched no entry: apply that one, or resolve both"
            outcomes.append(review(record, note, day=day, answers_id=first.pk))
            continue
        outcomes.append(_take(record, first, entry, day=day, now=now))
    return outcomes


def _dishonored(records: Sequence[InRecord], rail_id: str) -> dict[str, InRecord]:
    """The returns that these records name and that we dishonored, by their traces. `information`
    of an answer is the trace of the return."""
    rows = InRecord.objects.filter(
        one_of("rdfi_trace", {record.information for record in records}),
        rail_id=rail_id,
        kind__in=_RETURNS,
        replies__kind=ReplyKind.DISHONOR,
        replies__status__in=_TOLD,
    )
    rows = rows.exclude(rdfi_trace="")  # the index says so, and PostgreSQL does not see it
    return {row.rdfi_trace: row for row in rows.order_by("id")}


def _entry(record: InRecord, first: InRecord, *, rail_id: str, day: date) -> AchEntry | None:
    """The entry, locked: of the return, or of what the corrected return says."""
    entry_id = first.entry_id
    if entry_id is None and record.kind == RecordKind.CORRECTED_RETURN:
        found = matching.candidates([record], rail_id=rail_id)
        entry_id = matching.match(record, found.get(record.original_trace, ()), day=day).entry_id
    return returns.lock([entry_id]).get(entry_id) if entry_id else None


def _take(
    record: InRecord, first: InRecord, entry: AchEntry, *, day: date, now: datetime
) -> Outcome:
    if entry.status == EntryStatus.RETURNED:
        contested(record, entry, now=now)
        return applied(record, entry_id=entry.pk, answers_id=first.pk)
    if record.kind == RecordKind.CORRECTED_RETURN and entry.status in returns.ON_ITS_WAY:
        returns.send_back([(record, entry)], now=now, code=record.reason_code)
        return applied(record, entry_id=entry.pk, answers_id=first.pk)
    note = "the return that we dishonored stands: apply it, or resolve it"
    return review(record, note, day=day, entry_id=entry.pk, answers_id=first.pk)


def contested(record: InRecord, entry: AchEntry, *, now: datetime) -> None:
    """Have it told that the money, which our dishonor had brought back, is gone again."""
    AchEvent.about(
        entry,
        AchEventKind.RETURN_CONTESTED,
        record=record,
        code=record.code,
        reason=return_codes.lookup(record.code).title,
        settlement_date=record.settlement_day,
        now=now,
    ).save(force_insert=True)
