"""What a bank said of a file by telephone: one person writes it down, another one confirms it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from common.errors import NotFound
from desk import doers
from desk.doers import Doer
from desk.files import acts
from networks.ach import spoken
from networks.ach.models import OutFile, SpokenAnswer
from networks.ach.spoken import Said
from networks.ach.states import FileStatus, SpokenStatus

SHOWN = 10
_TONES = {
    SpokenStatus.PROPOSED: "warn",
    SpokenStatus.CONFIRMED: "good",
    SpokenStatus.REJECTED: "neutral",
    SpokenStatus.VOID: "neutral",
}


@dataclass(frozen=True)
class AnswerLine:
    row: SpokenAnswer
    tone: str
    proposed_by: str
    decided_by: str

    @property
    def batches(self) -> str:
        """`2, 5`."""
        return ", ".join(str(number) for number in self.row.batches)


@dataclass(frozen=True)
class Answers:
    """What was said of a file, newest first, and whether more may be written down."""

    lines: list[AnswerLine]
    can_be_given: bool


def of_file(file: OutFile) -> Answers:
    """Three queries, one if nothing was said."""
    lines = _lines(list(file.spoken_answers.order_by("-proposed_at", "-pk")[:SHOWN]))
    waits = file.status == FileStatus.SENT and not file.answered_how
    return Answers(lines, waits and not any(line.row.is_open for line in lines))


def line_of(answer: SpokenAnswer) -> AnswerLine:
    """Two queries."""
    (line,) = _lines([answer])
    return line


def found_answer(answer_id: str) -> SpokenAnswer:
    """Raises NotFound."""
    rows = SpokenAnswer.objects.select_related("file")
    found = rows.filter(pk=answer_id).first() if "\0" not in answer_id else None
    if found is None:
        raise NotFound("There is no such answer.")
    return found


@transaction.atomic
def propose(*, file: OutFile, said: Said, reason: str, doer: Doer, now: datetime) -> SpokenAnswer:
    """Ask another person to confirm it. Raises StaffRefusal."""
    answer = spoken.propose(file.pk, said=said, reason=reason, by=doer.name, now=now)
    _record("answer_proposed", answer, doer, now, reason)
    return answer


def confirm(*, answer: SpokenAnswer, doer: Doer, now: datetime) -> None:
    """Apply it. Raises StaffRefusal.

    Batches move in transactions of their own: `spoken.finish_all` does what is left of them.
    """
    with transaction.atomic():
        confirmed = spoken.confirm(answer.pk, by=doer.name, now=now)
        doers.require_second(doer, acts.RELEASES, confirmed)
        _record("answer_confirmed", confirmed, doer, now)
    spoken.finish(confirmed.file_id, now=now)


@transaction.atomic
def reject(*, answer: SpokenAnswer, doer: Doer, now: datetime) -> None:
    """The file goes on waiting for an answer. Raises StaffRefusal."""
    rejected = spoken.reject(answer.pk, by=doer.name, now=now)
    _record("answer_rejected", rejected, doer, now)


def _lines(rows: list[SpokenAnswer]) -> list[AnswerLine]:
    people = {row.proposed_by for row in rows} | {row.decided_by for row in rows}
    names = doers.names_of(people) if rows else {}
    return [
        AnswerLine(
            row,
            _TONES[SpokenStatus(row.status)],
            names.get(row.proposed_by, ""),
            names.get(row.decided_by, ""),
        )
        for row in rows
    ]


def _record(what: str, answer: SpokenAnswer, doer: Doer, now: datetime, note: str = "") -> None:
    acts.record(
        what,
        answer.file,
        doer,
        now,
        note,
        answerId=answer.pk,
        verdict=answer.verdict,
        code=answer.code,
        batches=", ".join(str(number) for number in answer.batches),
        saidBy=answer.said_by,
    )
