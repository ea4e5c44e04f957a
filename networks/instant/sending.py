"""Hands messages over to the operator, and says what is to be done where nobody answers.

A message is leased before it leaves, in a transaction of its own, and its handovers are counted
(`attempts`): from the first one on it may be at the network. What is then silent follows the
profile. RTP is told the identical message again, marked as a duplicate. FedNow is asked (pacs.028)
what became of a payment; all other messages it is told again. No payment is ever given up because
nobody answers: after `tries_unknown` times a person is told, and it goes on more slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

import structlog
from django.db import transaction

from common import leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine import arrays, sql
from networks.instant import connecting, messages, rails, reviewing, settling, writing
from networks.instant.iso import reader, writer
from networks.instant.iso.messages import (
    ORDERS,
    CreditTransfer,
    PaymentReturn,
    StatusReport,
    StatusRequest,
)
from networks.instant.iso.profiles import Silence
from networks.instant.models import Message
from networks.instant.rails import RailInForce
from networks.instant.states import Direction
from networks.instant.transport.base import NotTaken, Silent, Transport

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=60)
TOGETHER = 50
# A call of the transport may last some seconds, and these are made at the same time.
THREADS = 16
ALL_WITHIN = timedelta(seconds=25)
SOON, LATER = timedelta(seconds=2), timedelta(minutes=10)

_RECORD = """
UPDATE instant_message AS message
SET status = said.status, fault = said.fault, fault_detail = said.detail,
    attempts = said.attempts, next_attempt_at = said.due, leased_until = NULL,
    lease_version = message.lease_version + 1,
    sent_at = CASE WHEN said.status = 'sent' THEN coalesce(message.sent_at, %(now)s::timestamptz)
        ELSE message.sent_at END
FROM unnest(
    %(ids)s::text::bigint[], %(versions)s::text::int[], %(statuses)s::text::text[],
    %(faults)s::text::text[], %(details)s::text::text[], %(attempts)s::text::int[],
    %(due)s::text::timestamptz[]
) AS said (id, version, status, fault, detail, attempts, due)
WHERE message.id = said.id AND message.lease_version = said.version
RETURNING message.id
"""


class Outcome(StrEnum):
    """What became of one call."""

    SENT = "sent"
    SILENT = "silent"  # it may have arrived
    NOT_TAKEN = "not_taken"  # it surely was not
    NOT_BEGUN = "to_send"  # there was no time for it


class Result(NamedTuple):
    outcome: Outcome
    code: str = ""
    reason: str = ""


@dataclass(frozen=True)
class _Letter:
    """What is handed over: a leased row, and the bytes that go out this time."""

    row: Message
    content: bytes


def lease(new: Sequence[Message], *, now: datetime) -> None:
    """Lease unsaved messages to this process, which hands them over after the commit."""
    for row in new:
        row.leased_until = now + LEASE
        row.lease_version, row.attempts = 1, 1


def hand_over(rail: str, leased: Sequence[Message], *, now: datetime) -> None:
    """Hand over messages for the first time that are leased to this process, and record what came
    of it. Raises nothing: what goes wrong is silent, and the sweep goes on with it."""
    try:
        in_force = rails.current(rail)
        _send(in_force, [_Letter(row, row.content) for row in leased], now)
    except Exception:
        log.exception("instant_messages_not_handed_over", rail=rail, count=len(leased))


@by(WORKER)
@judged
def send_due(rail: str, *, now: datetime) -> int:
    """Hand over what is due, once more where nobody has answered. Returns how many that were."""
    in_force = rails.current(rail)
    due = Message.objects.filter(rail_id=rail, direction=Direction.OUT)
    claimed = leases.claim(due, now=now, limit=TOGETHER, lease=LEASE)
    letters = []
    for row in claimed:
        try:
            letters += _letters(in_force, row, now)
        except Exception:  # one message's trouble keeps no other
            log.exception("instant_message_not_written", rail=rail, message=row.pk)
            leases.finish(row, next_attempt_at=now + LATER)
    _send(in_force, letters, now)
    return len(claimed)


# --- What goes out


def _letters(rail: RailInForce, row: Message, now: datetime) -> list[_Letter]:
    """What is handed over for a claimed message."""
    if row.attempts == 1:
        return [_Letter(row, row.content)]
    too_often = _times(rail, row) - rail.terms.tries_unknown
    if too_often > 0:
        reviewing.silent(row.conversation_id, is_new=too_often == 1, now=now)
    if rail.profile.silence == Silence.REPEAT:
        return [_Letter(row, writer.duplicate(row.content, rail.profile))]
    if row.name in ORDERS:
        return [_question(rail, row, now)]
    return [_Letter(row, row.content)]


def _times(rail: RailInForce, row: Message) -> int:
    """How often a message was handed over or asked about, with this time."""
    if rail.profile.silence == Silence.REPEAT or row.name not in ORDERS:
        return row.attempts
    return settling.questions(row).count() + 2


@transaction.atomic(durable=True)
def _question(rail: RailInForce, row: Message, now: datetime) -> _Letter:
    """Ask about a payment; the payment itself stays where it is."""
    said = reader.read(row.content, rail.profile).message
    if not isinstance(said, CreditTransfer | PaymentReturn):
        raise TypeError(f"message {row.pk} moves no money")
    (naming,) = messages.names(rail, 1, now=now)
    asked = writing.question(rail, said, naming)
    question = messages.outgoing(rail, row.conversation, asked, naming, related=row, now=now)
    lease([question], now=now)
    question.save(force_insert=True)
    leases.finish(row, next_attempt_at=_next_try(rail, row, now))
    return _Letter(question, question.content)


# --- Handing over


def _send(rail: RailInForce, letters: Sequence[_Letter], now: datetime) -> None:
    if not letters:
        return
    results = _handed_over(connecting.transport(rail), letters)
    _record(rail, letters, results, now)


def _handed_over(transport: Transport, letters: Sequence[_Letter]) -> list[Result]:
    """What became of each, in their order. No thread touches the database."""
    with ThreadPoolExecutor(max_workers=min(THREADS, len(letters))) as pool:
        calls = [pool.submit(_call, transport, letter) for letter in letters]
        wait(calls, timeout=ALL_WITHIN.total_seconds())
        begun = [not call.cancel() for call in calls]
    return [
        call.result() if is_begun else Result(Outcome.NOT_BEGUN)
        for call, is_begun in zip(calls, begun, strict=True)
    ]


def _call(transport: Transport, letter: _Letter) -> Result:
    try:
        transport.send(letter.content, name=letter.row.message_id)
    except NotTaken as refusal:
        return Result(Outcome.NOT_TAKEN, refusal.code, refusal.reason)
    except Silent as silence:
        return Result(Outcome.SILENT, reason=str(silence))
    except Exception as error:  # unknown to us is unknown
        log.exception("instant_transport_failed", message=letter.row.pk)
        return Result(Outcome.SILENT, reason=type(error).__name__)
    return Result(Outcome.SENT)


# --- What came of it


@transaction.atomic
def _record(
    rail: RailInForce, letters: Sequence[_Letter], results: Sequence[Result], now: datetime
) -> None:
    """Write down what became of each, unless an answer came first."""
    settling.lock_all(
        letter.row.conversation_id
        for letter, result in zip(letters, results, strict=True)
        if letter.row.conversation_id
        and (letter.row.name == StatusReport.kind or result.outcome == Outcome.NOT_TAKEN)
    )
    said = [_said(each.row, result) for each, result in zip(letters, results, strict=True)]
    rows = [letter.row for letter in letters]
    plans = [_due(rail, row, result, now) for row, result in zip(rows, said, strict=True)]
    recorded = sql.rows(
        _RECORD,
        {
            "ids": arrays.plain(row.pk for row in rows),
            "versions": arrays.plain(row.lease_version for row in rows),
            "statuses": arrays.texts(result.outcome for result in said),
            "faults": arrays.texts(result.code[:40] for result in said),
            "details": arrays.texts(result.reason[:200] for result in said),
            "attempts": arrays.plain(
                row.attempts - (result.outcome == Outcome.NOT_BEGUN)
                for row, result in zip(rows, said, strict=True)
            ),
            "due": arrays.plain(plans),
            "now": now,
        },
    )
    ours = {pk for (pk,) in recorded}
    for row, result in zip(rows, said, strict=True):
        if row.pk in ours:
            _follow(rail, row, result, now)


def _said(row: Message, result: Result) -> Result:
    """A repeat that was not taken proves nothing of the first one."""
    if result.outcome == Outcome.NOT_TAKEN and settling.may_be_there(row):
        return result._replace(outcome=Outcome.SILENT)
    return result


def _due(rail: RailInForce, row: Message, result: Result, now: datetime) -> datetime | None:
    """When to see to it again if no answer came by then."""
    if result.outcome == Outcome.NOT_BEGUN:
        return now
    if result.outcome == Outcome.NOT_TAKEN or row.name == StatusRequest.kind:
        return None  # whoever waits for the answer to a question asks again
    if row.name in ORDERS:
        return _next_try(rail, row, now)
    return None if result.outcome == Outcome.SENT else now + min(SOON * row.attempts, LATER)


def _next_try(rail: RailInForce, row: Message, now: datetime) -> datetime:
    is_long = row.attempts > rail.terms.tries_unknown
    return now + (LATER if is_long else rail.profile.unanswered_after)


def _follow(rail: RailInForce, row: Message, result: Result, now: datetime) -> None:
    """What a recorded outcome means for its conversation."""
    if result.outcome == Outcome.NOT_TAKEN:
        log.error("instant_message_not_taken", rail=rail.name, message=row.pk, code=result.code)
        settling.not_taken(row, code=result.code, reason=result.reason, now=now)
    elif result.outcome == Outcome.SENT and row.name == StatusReport.kind:
        settling.answered(rail, row, now=now)
