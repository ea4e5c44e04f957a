"""What a bank says of a sent file by telephone: one person proposes it, another one confirms, and
then it is applied as if the bank had sent a file (decision 0155).

Whoever decides locks the file, then the answer. Of the bank's own answer and this one, the first
whose applying begins is applied to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from django.db import transaction

from common.database.job_doors import by
from common.database.jobs import WORKER
from common.errors import StaffRefusal
from networks.ach import acknowledging
from networks.ach.acknowledgments import REPEATED, Verdict
from networks.ach.models import AchEntry, OutFile, SpokenAnswer
from networks.ach.models.files import Answered
from networks.ach.models.spoken import CODE_LENGTH_MAX, SAID_BY_LENGTH_MAX
from networks.ach.states import SPOKEN_STATES, BatchStatus, EntryStatus, FileStatus, SpokenStatus

log = structlog.get_logger(__name__)


class AnswerRefused(StaffRefusal):
    code = "ach_answer_refused"
    title = "Not possible"
    advice = "Look at the file again: somebody else, or the bank's own answer, may have been first."


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the bank said, and who there. `code` is why it refused the file, or `batches`."""

    verdict: Verdict
    said_by: str
    code: str = ""
    batches: Sequence[int] = ()


@transaction.atomic
def propose(file_id: str, *, said: Said, reason: str, by: str, now: datetime) -> SpokenAnswer:
    """Write down what the bank said. Raises AnswerRefused."""
    file = _unanswered(file_id)
    _require(file, said.verdict, said.code, said.batches)
    if not said.said_by.strip() or not reason.strip():
        raise AnswerRefused("Say who at the bank said it, and why we ask.")
    if file.spoken_answers.filter(status=SpokenStatus.PROPOSED).exists():
        raise AnswerRefused("Somebody has written down an answer already.")
    return SpokenAnswer.objects.create(
        file=file,
        verdict=said.verdict,
        code=said.code,
        batches=sorted(set(said.batches)),
        said_by=said.said_by.strip()[:SAID_BY_LENGTH_MAX],
        reason=reason.strip(),
        proposed_by=by,
        proposed_at=now,
    )


@transaction.atomic
def confirm(answer_id: str, *, by: str, now: datetime) -> SpokenAnswer:
    """Let the answer count. `finish` applies it. Raises AnswerRefused."""
    answer = _decidable(answer_id, by)
    file = _unanswered(answer.file_id)
    _require(file, Verdict(answer.verdict), answer.code, answer.batches)
    SPOKEN_STATES.advance(answer, SpokenStatus.CONFIRMED, decided_by=by, decided_at=now)
    file.answered_how = Answered.PEOPLE
    file.save(update_fields=["answered_how"])
    log.info("ach_answered_by_telephone", file=file.pk, rail=file.rail_id)
    return answer


@transaction.atomic
def reject(answer_id: str, *, by: str, now: datetime) -> SpokenAnswer:
    """It was not so: the file goes on waiting for its answer. Raises AnswerRefused."""
    answer = _decidable(answer_id, by)
    SPOKEN_STATES.advance(answer, SpokenStatus.REJECTED, decided_by=by, decided_at=now)
    return answer


def finish(file_id: str, *, now: datetime) -> bool:
    """Apply the confirmed answer of a file, once however often it is called. False if there is
    none, or if it was applied before."""
    rows = SpokenAnswer.objects.filter(status=SpokenStatus.CONFIRMED)
    answer = rows.filter(file_id=file_id, file__status=FileStatus.SENT).first()
    if answer is None:
        return False
    return acknowledging.acknowledged(
        file_id,
        verdict=Verdict(answer.verdict),
        rejected_batches=dict.fromkeys(answer.batches, answer.code),
        rejected_entries={},
        code=answer.code if answer.verdict == Verdict.REJECTED else "",
        how=Answered.PEOPLE,
        now=now,
    )


@by(WORKER)
def finish_all(rail: str, *, now: datetime) -> int:
    """Apply the confirmed answers whose applying somebody did not live to end. How many."""
    files = OutFile.objects.filter(
        rail_id=rail, status=FileStatus.SENT, answered_how=Answered.PEOPLE
    )
    return sum(finish(file_id, now=now) for file_id in files.values_list("pk", flat=True))


def _decidable(answer_id: str, by: str) -> SpokenAnswer:
    """The answer, locked after its file. Raises AnswerRefused."""
    found = SpokenAnswer.objects.filter(pk=answer_id).values_list("file_id", flat=True).first()
    if found is None:
        raise AnswerRefused("There is no such answer.")
    OutFile.objects.select_for_update(no_key=True).get(pk=found)
    answer = SpokenAnswer.objects.select_for_update(no_key=True).get(pk=answer_id)
    if answer.status != SpokenStatus.PROPOSED:
        words = answer.get_status_display().lower()
        raise AnswerRefused(f"It does not wait for a decision: {words}.")
    if answer.proposed_by == by:
        raise AnswerRefused("Another person than the one who wrote it down decides.")
    return answer


def _unanswered(file_id: str) -> OutFile:
    """The file, locked. Raises AnswerRefused if it has an answer, or does not wait for one."""
    file = OutFile.objects.select_for_update(no_key=True).filter(pk=file_id).first()
    if file is None:
        raise AnswerRefused("There is no such file.")
    if file.status != FileStatus.SENT:
        raise AnswerRefused(f"It waits for no answer: {file.get_status_display().lower()}.")
    if file.answered_how or file.batches.exclude(status=BatchStatus.FROZEN).exists():
        raise AnswerRefused("Another answer of the bank is being applied.")
    return file


def _require(file: OutFile, verdict: Verdict, code: str, batches: Sequence[int]) -> None:
    """Raises AnswerRefused if the file cannot have been answered so."""
    if verdict == Verdict.ACCEPTED:
        if code or batches:
            raise AnswerRefused("A file that the bank took whole has no code and no batches.")
        return
    _require_code(code)
    if (verdict == Verdict.PART_REJECTED) != bool(batches):
        raise AnswerRefused("Name batches if it refused some, and none if it refused the file.")
    refused = file.batches.all()
    if batches:
        refused = refused.filter(batch_number__in=batches)
        if refused.count() != len(set(batches)):
            raise AnswerRefused("The file has no such batch.")
    # What came back proves that the bank took it: sent again, its money would move twice.
    came_back = AchEntry.objects.filter(batch__in=refused, status=EntryStatus.RETURNED)
    if came_back.exists():
        raise AnswerRefused("An entry of it came back, so the bank took it.")


def _require_code(code: str) -> None:
    if not code.strip() or len(code) > CODE_LENGTH_MAX:
        raise AnswerRefused("Say by which code the bank refused it.")
    if code == REPEATED:
        raise AnswerRefused("It has such a file already: ask the bank which one, and what it did.")
