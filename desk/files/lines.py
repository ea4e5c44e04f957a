"""Files, cut-offs and batches in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from common.days import EASTERN
from desk import doers
from networks.ach import rails, schedule
from networks.ach.models import AchBatch, AchEntry, Originator, OutFile
from networks.ach.models.rails import RailPart
from networks.ach.states import BatchStatus, EntryStatus, FileStatus
from networks.ach.terms import InvalidTerms, RailTerms

COUNTED_MAX = 10_000
BATCHES_SHOWN = 50
_TONES = {
    FileStatus.BUILDING: "info",
    FileStatus.BUILT: "warn",
    FileStatus.HELD: "bad",
    FileStatus.RELEASED: "info",
    FileStatus.SENT: "info",
    FileStatus.ACKNOWLEDGED: "good",
    FileStatus.PART_REJECTED: "bad",
    FileStatus.REJECTED: "bad",
    FileStatus.WITHDRAWN: "neutral",
}
_BATCH_TONES = {
    BatchStatus.FROZEN: "info",
    BatchStatus.ACCEPTED: "good",
    BatchStatus.REJECTED: "bad",
}
_OPEN = (FileStatus.BUILDING, FileStatus.BUILT, FileStatus.HELD, FileStatus.RELEASED)
# Why a waiting entry was left out of the last file (networks.ach.freezing).
WAITS_FOR = {
    "": "Goes with the next file",
    "entry_limit": "Over the rail's limit of an entry",
    "sec_not_allowed": "Of a class that the rail does not send",
    "test_not_covered": "Would take back more than the test gave",
    "prenote": "Until its account was asked about by a prenote",
    "daily_limit": "Over the daily limit of its originator",
    "debits_stopped": "Debits of its originator are stopped",
    "exposure": "Over what may be sent and not final",
    "rail_limit": "Over the day's limit of the rail",
}


@dataclass(frozen=True)
class FileLine:
    """One file with the next step. `seconds` are until its cut-off."""

    row: OutFile
    tone: str
    status: str
    cutoff: str
    seconds: int
    next_step: str


@dataclass(frozen=True)
class CutoffLine:
    """One cut-off of the day. `seconds` are until it, below zero when it has passed."""

    at: datetime
    frozen_from: datetime
    same_day: bool
    seconds: int
    words: str
    tone: str


@dataclass(frozen=True)
class GoingLine:
    """What waits of one originator and direction, for one reason. Cents."""

    originator: str
    direction: str
    count: int
    cents: int
    words: str
    goes: bool


@dataclass(frozen=True)
class RailDay:
    """The day of one rail."""

    name: str
    stopped: list[str]
    cutoffs: list[CutoffLine]
    going: list[GoingLine]
    is_cut: bool
    count: int
    cents: int


@dataclass(frozen=True)
class BatchLine:
    """`words` say where it is: a batch that nobody answered is where its file is."""

    row: AchBatch
    tone: str
    words: str


@dataclass(frozen=True)
class Step:
    """One thing that happened to a file."""

    at: datetime
    what: str
    who: str
    why: str = ""


def rail_days(now: datetime) -> list[RailDay]:
    """The rails that take entries, each with its day. Five queries a rail; there are few."""
    days = []
    for name in rails.names():
        try:
            terms = rails.current(name).parsed
        except InvalidTerms:
            continue
        days.append(_rail_day(name, terms, now))
    return days


def _rail_day(name: str, terms: RailTerms, now: datetime) -> RailDay:
    going, is_cut = _going(name)
    leaving = [line for line in going if line.goes]
    return RailDay(
        name=name,
        stopped=[str(part.label) for part in RailPart if rails.is_stopped(name, part)],
        cutoffs=[_cutoff(window, now) for window in schedule.day_windows(terms, now)],
        going=going,
        is_cut=is_cut,
        count=sum(line.count for line in leaving),
        cents=sum(line.cents for line in leaving),
    )


def _cutoff(window: schedule.Window, now: datetime) -> CutoffLine:
    seconds = int((window.cutoff_at - now).total_seconds())
    if seconds <= 0:
        words, tone = "Over", "neutral"
    elif window.frozen_from <= now:
        words, tone = "Files are made and released now", "warn"
    else:
        words, tone = "Takes entries", "info"
    return CutoffLine(window.cutoff_at, window.frozen_from, window.same_day, seconds, words, tone)


def _going(rail: str) -> tuple[list[GoingLine], bool]:
    """What waits, by originator; whether there is more than was counted. Two queries."""
    waiting = AchEntry.objects.filter(rail_id=rail, status=EntryStatus.WAITING).order_by("pk")
    rows = waiting.values_list("originator_id", "is_debit", "waits_for", "amount")
    found = list(rows[: COUNTED_MAX + 1])
    groups: dict[tuple[str, bool, str], list[int]] = {}
    for originator, is_debit, waits_for, amount in found[:COUNTED_MAX]:
        groups.setdefault((originator, is_debit, waits_for), []).append(amount)
    names = dict(
        Originator.objects.filter(pk__in={key[0] for key in groups}).values_list(
            "pk", "company_name"
        )
    )
    lines = [
        GoingLine(
            originator=names[originator],
            direction="Debits" if is_debit else "Credits",
            count=len(amounts),
            cents=sum(amounts),
            words=WAITS_FOR.get(waits_for, waits_for.replace("_", " ")),
            goes=not waits_for,
        )
        for (originator, is_debit, waits_for), amounts in groups.items()
    ]
    lines.sort(key=lambda line: (not line.goes, line.originator, line.direction))
    return lines, len(found) > COUNTED_MAX


def file_line(row: OutFile, now: datetime) -> FileLine:
    """One file of the list."""
    status = FileStatus(row.status)
    return FileLine(
        row=row,
        tone="bad" if row.stuck_code else _TONES[status],
        status="Not sent" if row.stuck_code else str(status.label).capitalize(),
        cutoff=_short(row.cutoff_at),
        seconds=int((row.cutoff_at - now).total_seconds()),
        next_step=next_step(row, now),
    )


def _short(at: datetime) -> str:
    """`Nov 23, 10:00 AM`, Eastern."""
    local = at.astimezone(EASTERN)
    return f"{local:%b} {local.day}, {local.hour % 12 or 12}:{local:%M %p}"


def next_step(row: OutFile, now: datetime) -> str:
    """What has to happen next, in a few words; empty when nothing has."""
    status = FileStatus(row.status)
    if status == FileStatus.HELD:
        return "Correct the cause, then build it again" if row.faults else "Decide about the hold"
    if row.stuck_code:
        return "Mend what keeps it, then try again"
    if status == FileStatus.BUILT:
        return "Second release" if row.first_released_at else "First release"
    if status == FileStatus.SENT and row.acknowledgment_due_at:
        late = row.acknowledgment_due_at < now
        return "Ask the bank, and write down what it says" if late else "The bank answers"
    return {
        FileStatus.BUILDING: "A worker builds it",
        FileStatus.RELEASED: "A worker sends it",
        FileStatus.PART_REJECTED: "Look at the rejected batches",
        FileStatus.REJECTED: "Look why, its entries wait again",
    }.get(status, "")


def batch_lines(file: OutFile) -> list[BatchLine]:
    """The batches of a file, the first `BATCHES_SHOWN`."""
    rows = file.batches.select_related("originator").order_by("batch_number")[:BATCHES_SHOWN]
    return [
        BatchLine(row, _BATCH_TONES[BatchStatus(row.status)], _batch_words(row, file))
        for row in rows
    ]


def _batch_words(batch: AchBatch, file: OutFile) -> str:
    status, of_file = BatchStatus(batch.status), FileStatus(file.status)
    if status != BatchStatus.FROZEN or of_file in _OPEN:
        return str(status.label).capitalize()
    shown = FileStatus.WITHDRAWN if of_file == FileStatus.WITHDRAWN else FileStatus.SENT
    return str(shown.label).capitalize()


def history(row: OutFile) -> list[Step]:
    """Who did what to a file, oldest first. Two queries."""
    steps = sorted(_steps(row), key=lambda step: step.at)
    names = doers.names_of(step.who for step in steps)
    return [Step(step.at, step.what, names.get(step.who, ""), step.why) for step in steps]


def _steps(row: OutFile) -> Iterator[Step]:
    moments = (
        (row.created_at, "Entries were put into it", doers.OURSELVES, ""),
        (row.built_at, "Built", row.built_by, ""),
        (row.held_at, "Held", row.held_by, row.held_why),
        (row.first_released_at, "First release", row.first_released_by, ""),
        (row.released_at, "Released", row.released_by or doers.OURSELVES, _how(row)),
        (row.stuck_at, "Not sent", doers.OURSELVES, row.stuck_code),
        (row.sent_at, "Sent", doers.OURSELVES, ""),
        (row.acknowledged_at, "The bank answered", "", _answer(row)),
        (row.withdrawn_at, "Taken apart", row.withdrawn_by, row.withdrawn_why),
    )
    for at, what, who, why in moments:
        if at is not None:
            yield Step(at, what, who, why)


def _answer(row: OutFile) -> str:
    """`Acknowledged. By telephone`."""
    words = str(row.get_status_display()).capitalize()
    return f"{words}. {row.get_answered_how_display()}" if row.answered_how else words


def _how(row: OutFile) -> str:
    if row.released_how in ("below", "rule"):
        return f"{row.get_released_how_display()}: no two people."
    return ""
