"""Takes in what the bank says of a file that we sent: once, and only if it fits that file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypedDict

import structlog
from django.db.models import QuerySet

from common.engine.lookups import one_of
from networks.ach import acknowledging, spoken
from networks.ach.acknowledgments import (
    READERS,
    Acknowledgment,
    Extent,
    Reason,
    Unreadable,
    Verdict,
)
from networks.ach.inbound import deadlines, storing, surveying
from networks.ach.models import AchBatch, AchEntry, AchReply, InFile, OutFile
from networks.ach.models.files import Answered
from networks.ach.nacha.faults import Fault, Scope
from networks.ach.states import (
    IN_FILE_STATES,
    BatchStatus,
    EntryStatus,
    FileKind,
    FileStatus,
    InFileStatus,
)
from networks.ach.terms import RailTerms

log = structlog.get_logger(__name__)

_ANSWERED = frozenset((FileStatus.ACKNOWLEDGED, FileStatus.PART_REJECTED, FileStatus.REJECTED))
_GIVEN_UP = (
    "ack_file_given_up",
    "we gave this file up and the bank has it: hold the files with which its entries go again",
)
_OTHER_ANSWER = ("ack_contradicts", "another answer about the file is being applied: ask the bank")
_OFFSET_STAYS = (
    "ack_offset_stays",
    "the file is balanced, and a batch refused alone leaves our own account's side as it was: ask"
    " the bank what becomes of that",
)
_TOO_EARLY = ("ack_too_early", "the bank cannot have this file yet: ask it which one it has")
# Banks hold entries for a day or two; what they name beyond that is a mistake.
_SETTLES_WITHIN = timedelta(days=10)
# The bank may have it: while it is released, an attempt to send it may have lost its answer.
_AT_THE_BANK = frozenset((FileStatus.RELEASED, FileStatus.SENT))


def read(file: InFile, *, terms: RailTerms, now: datetime) -> None:
    """Apply a stored acknowledgment, or leave it to a person with what is wrong with it.

    Whoever dies between its effect and the mark that it is applied, the same is said once more, to
    no harm.
    """
    read_format = READERS.get(terms.ack_format)
    if read_format is None:
        _leave(file, 1, "ack_format_none", "this bank sends no acknowledgments", now)
        return
    try:
        said = read_format(storing.Reader(file), partial(_extent, file.rail_id))
    except Unreadable as fault:
        _leave(file, fault.line, fault.code, fault.detail, now)
        return
    sent = _sent(file.rail_id, said.sha256)[:1].get()
    if problem := _used(sent, said, now):
        _leave(file, 1, *problem, now, answers=sent)
        return
    notes = [
        surveying.as_json(Fault(1, word, f"the bank remarks on entry {trace}", Scope.NOTE))
        for trace, word in islice(said.warnings.items(), surveying.FAULTS_KEPT)
    ]
    IN_FILE_STATES.advance(
        file, InFileStatus.APPLIED, answers=sent, faults=notes, parsed_at=now, applied_at=now
    )
    log.info("ach_acknowledged", file_id=sent.pk, verdict=said.verdict)


def _sent(rail: str, sha256: str) -> QuerySet[OutFile]:
    return OutFile.objects.filter(rail_id=rail, sha256=sha256)


def _extent(rail: str, sha256: str) -> Extent | None:
    counts = _sent(rail, sha256).values_list("batch_count", "entry_count").first()
    return Extent(*counts) if counts else None


def _used(sent: OutFile, said: Acknowledgment, now: datetime) -> tuple[str, str] | None:
    """Why the acknowledgment was not used, or None."""
    if spoken.finish(sent.pk, now=now):  # what two people confirmed came first
        sent.refresh_from_db()
    problem = next(_problems(sent, said, now), None)
    if problem or sent.status in _ANSWERED or _apply(sent, said, now):
        return problem
    sent.refresh_from_db()
    if sent.status in _ANSWERED or sent.answered_how == Answered.PEOPLE:  # meanwhile
        return _used(sent, said, now)
    return _OTHER_ANSWER if sent.answered_how else _TOO_EARLY


def _apply(sent: OutFile, said: Acknowledgment, now: datetime) -> bool:
    """False if the bank cannot have the file, as far as we know, or if another answer came
    first."""
    return acknowledging.acknowledged(sent.pk, **_as_applied(said), now=now)


class _Applied(TypedDict):
    verdict: Verdict
    rejected_batches: Mapping[int, str]
    rejected_entries: Mapping[str, str]
    settles: Mapping[int, date]
    code: str


def _as_applied(said: Acknowledgment) -> _Applied:
    return {
        "verdict": said.verdict,
        "rejected_batches": {
            number: _code(reasons) for number, reasons in said.rejected_batches.items()
        },
        "rejected_entries": said.rejected_entries,
        "settles": said.settles,
        "code": _code(said.reasons) if said.verdict is Verdict.REJECTED else "",
    }


def _code(reasons: Sequence[Reason]) -> str:
    return reasons[0].code if reasons else "rejected"


def _problems(sent: OutFile, said: Acknowledgment, now: datetime) -> Iterator[tuple[str, str]]:
    """Why a person has to look before it is used."""
    if sent.status in _ANSWERED:
        if _contradicts(sent, said):
            yield "ack_contradicts", f"the file is {sent.status}: the bank said so before"
        return
    if said.is_repeat:
        # The entries may be at the bank by now: to send them again could move money twice.
        yield "ack_duplicate_file", "the bank says that it has such a file already: ask it"
        return
    yield from _misfits(sent, said, now)


def _misfits(sent: OutFile, said: Acknowledgment, now: datetime) -> Iterator[tuple[str, str]]:
    """In what a first answer does not fit the file."""
    if sent.status == FileStatus.WITHDRAWN:
        yield _GIVEN_UP
    if sent.status not in _AT_THE_BANK:
        yield _TOO_EARLY
    if _has_come_back(sent, said):
        yield "ack_contradicts", "an entry that it refuses came back, so the bank took it: ask it"
    numbers = set(said.rejected_batches)
    if len(numbers) != AchBatch.objects.filter(file=sent, batch_number__in=numbers).count():
        yield "ack_batch_unknown", "the file has no such batch"
    if _parts_from_offset(sent, numbers):
        yield _OFFSET_STAYS
    if sent.kind == FileKind.FORWARD and not _can_settle(sent, said, now):
        yield "ack_settlement_day", "no batch of this file can settle on such a day: ask the bank"
    traces = list(said.rejected_entries)
    entries = AchEntry.objects.filter(one_of("trace_number", traces), batch__file=sent).count()
    replies = AchReply.objects.filter(one_of("trace_number", traces), batch__file=sent).count()
    if len(traces) != entries + replies:
        yield "ack_entry_unknown", "the file has no such entry"


def _has_come_back(sent: OutFile, said: Acknowledgment) -> bool:
    """Whether a batch that it refuses has come back in part: sent again, the rest moved twice."""
    refused = AchBatch.objects.filter(file=sent)
    if said.verdict is not Verdict.REJECTED:
        refused = refused.filter(batch_number__in=set(said.rejected_batches))
    return AchEntry.objects.filter(batch__in=refused, status=EntryStatus.RETURNED).exists()


def _parts_from_offset(sent: OutFile, refused: set[int]) -> bool:
    """Whether it refuses some batches of a balanced file and not all: sent again, their entries
    would have another offset beside the one that the bank took (decision 0159)."""
    batches = AchBatch.objects.filter(file=sent)
    is_balanced = bool(refused) and batches.filter(is_offset=True).exists()
    return is_balanced and batches.exclude(batch_number__in=refused).exists()


def _can_settle(sent: OutFile, said: Acknowledgment, now: datetime) -> bool:
    """Whether its batches can settle when the bank says: by that day a debit is final, so that a
    wrong one would have its money used while it may still come back."""
    latest = deadlines.eastern_day(now) + _SETTLES_WITHIN
    batches = AchBatch.objects.filter(file=sent, batch_number__in=set(said.settles))
    return all(
        batch.effective_date <= said.settles[batch.batch_number] <= latest for batch in batches
    )


def _contradicts(sent: OutFile, said: Acknowledgment) -> bool:
    """Whether it says otherwise than the answer that the file has. People may have heard the wrong
    thing: what they confirmed is compared batch by batch. Of what the bank said itself, refusals
    are compared whole, and otherwise the outcome."""
    if sent.answered_how == Answered.PEOPLE:
        return _refuses_others(sent, said)
    if said.is_repeat:
        return False
    is_accepted = sent.status == FileStatus.ACKNOWLEDGED
    if is_accepted or said.verdict is Verdict.ACCEPTED:
        return is_accepted != (said.verdict is Verdict.ACCEPTED)
    if not sent.answer_digest:
        return False
    return sent.answer_digest != acknowledging.digest(**_as_applied(said))


def _refuses_others(sent: OutFile, said: Acknowledgment) -> bool:
    """Whether the bank refuses other batches, or entries, than it did by telephone; or says that it
    has the file, of which our people heard that it refused some."""
    of_file = AchBatch.objects.filter(file=sent)
    refused = of_file.filter(status=BatchStatus.REJECTED).values_list("batch_number", flat=True)
    if said.is_repeat:
        return bool(refused)
    theirs = set(said.rejected_batches)
    if said.verdict is Verdict.REJECTED:
        theirs = set(of_file.values_list("batch_number", flat=True))
    return bool(said.rejected_entries) or set(refused) != theirs


def _leave(
    file: InFile,
    line: int,
    code: str,
    detail: str,
    now: datetime,
    *,
    answers: OutFile | None = None,
) -> None:
    fault = surveying.as_json(Fault(line, code, detail, Scope.FILE))
    IN_FILE_STATES.advance(
        file, InFileStatus.REVIEW, faults=[fault], parsed_at=now, answers=answers
    )
    log.warning("ach_acknowledgment_for_review", file_id=file.pk, code=code)
