"""Entries that come back: each at most once, whatever it had become before.

A return proves that the entry was accepted. It voids what was to be told of its settlement. One
that comes after its time is applied as well, and marked: our bank may dishonor it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from common.engine.lookups import one_of
from networks import return_codes
from networks.ach.inbound import deadlines, matching, taken_back
from networks.ach.inbound.outcomes import Outcome, applied, review
from networks.ach.models import AchEntry, AchEvent, InRecord
from networks.ach.models.events import AchEventKind
from networks.ach.states import ENTRY_STATES, EntryStatus

_REASON_LENGTH = 300
# Whose money may have moved.
ON_ITS_WAY = frozenset((EntryStatus.SENT, EntryStatus.ACCEPTED, EntryStatus.FINAL))
_SETTLEMENT = (AchEventKind.SETTLED, AchEventKind.FINAL)
_UNKNOWN = "a return code that is not in the rules we know"
_SECOND = "this entry came back before: if money moved twice, dishonor it as a duplicate (R67)"
_REVERSED = "we took this entry back before: if money moved twice, dishonor it (R62)"


def apply(records: Sequence[InRecord], *, rail_id: str, day: date, now: datetime) -> list[Outcome]:
    """Apply new returns, in the order in which they came; gives what became of each. The caller's
    transaction has locked the records."""
    found = matching.candidates(records, rail_id=rail_id)
    matches = [
        matching.match(record, found.get(record.original_trace, ()), day=day) for record in records
    ]
    entries = lock({match.entry_id for match in matches if match.entry_id is not None})
    questions = _questions(entries, now)
    outcomes: list[Outcome] = []
    back: list[tuple[InRecord, AchEntry]] = []
    for record, match in zip(records, matches, strict=True):
        entry = entries.get(match.entry_id or 0)
        if entry is None:
            outcomes.append(review(record, match.why_not, day=day))
            continue
        outcome, comes_back = _judge(record, entry, day, questions.get(entry.pk, ""))
        outcomes.append(outcome)
        if comes_back:
            entry.status = EntryStatus.RETURNED
            back.append((record, entry))
    send_back(back, now=now)
    return outcomes


def lock(entry_ids: Collection[int]) -> Mapping[int, AchEntry]:
    """These entries, locked in the order of their numbers until the end of the transaction."""
    rows = AchEntry.objects.select_for_update(no_key=True).filter(one_of("pk", list(entry_ids)))
    return {entry.pk: entry for entry in rows.order_by("pk")}


def send_back(back: Sequence[tuple[InRecord, AchEntry]], *, now: datetime, code: str = "") -> None:
    """Make locked entries `returned`, each by its record, and have that told. `code` is the reason
    where the record has another one."""
    by_code: dict[str, list[int]] = defaultdict(list)
    for record, entry in back:
        by_code[code or record.code].append(entry.pk)
    for reason, entry_ids in by_code.items():
        AchEntry.objects.filter(one_of("pk", entry_ids)).update(
            status=EntryStatus.RETURNED, code=reason, ended_at=now
        )
    void_settlement([entry.pk for _, entry in back], now=now)
    AchEvent.objects.bulk_create(
        [_event(record, entry, code or record.code, now) for record, entry in back]
    )


def void_settlement(entry_ids: Iterable[int], *, now: datetime) -> None:
    """What was not told yet of these entries' settlement is never told."""
    untold = AchEvent.objects.filter(
        one_of("entry_id", list(entry_ids)),
        kind__in=_SETTLEMENT,
        acknowledged=False,
        voided_at=None,
    )
    untold.update(voided_at=now)


def _questions(entries: Mapping[int, AchEntry], now: datetime) -> dict[int, str]:
    """Why a return of some of these locked entries is a person's matter, by entry."""
    back = [entry for entry in entries.values() if entry.status in ON_ITS_WAY]
    if not back:
        return {}
    questions = dict.fromkeys(taken_back.effective(back), taken_back.CAME_BACK)
    left = taken_back.stop([entry.pk for entry in back], now=now)
    return questions | dict.fromkeys(left, taken_back.ON_ITS_WAY)


def _judge(record: InRecord, entry: AchEntry, day: date, question: str) -> tuple[Outcome, bool]:
    """What becomes of a return of this entry, and whether the entry comes back by it."""
    if entry.status == EntryStatus.RETURNED:
        note = _REVERSED if entry.code == return_codes.TAKEN_BACK else _SECOND
        return review(record, note, day=day, entry_id=entry.pk), False
    if entry.status == EntryStatus.REJECTED:
        return _of_rejected(record, entry, day), False
    if entry.status not in ON_ITS_WAY:
        note = "the entry with this trace number is not on its way"
        return review(record, note, day=day, entry_id=entry.pk), False
    if question:
        return review(record, question, day=day, entry_id=entry.pk), False
    if not ENTRY_STATES.allows(entry.status, EntryStatus.RETURNED):
        raise RuntimeError(f"an entry that is {entry.status} cannot come back")
    came = record.settlement_day or day
    is_late = deadlines.is_late(record.code, settled=entry.settlement_date, returned=came)
    is_known = return_codes.is_ach_return(record.code)
    outcome = applied(
        record,
        entry_id=entry.pk,
        note="" if is_known else _UNKNOWN,
        dishonor_due=deadlines.dishonor_due(came) if is_late else None,
    )
    return outcome, True


def _of_rejected(record: InRecord, entry: AchEntry, day: date) -> Outcome:
    """The operator refused the entry in the acknowledgment, and sends it back as well: the same
    thing, which counts once."""
    if record.code == entry.code:
        note = "the acknowledgment said so before"
        return applied(record, entry_id=entry.pk, note=note)
    note = f"the acknowledgment rejected this entry with {entry.code or 'no code'}"
    return review(record, note, day=day, entry_id=entry.pk)


def _event(record: InRecord, entry: AchEntry, code: str, now: datetime) -> AchEvent:
    return AchEvent.about(
        entry,
        AchEventKind.RETURNED,
        record=record,
        code=code,
        reason=return_codes.lookup(code).title[:_REASON_LENGTH],
        settlement_date=record.settlement_day,
        now=now,
    )
