"""A batch of claimed rows of one network: asked, handed over in one call, and recorded.

The call happens outside any transaction. What it says is recorded in one: a row whose lease ran out
meanwhile is left to its next holder. What a worker that dies leaves behind is submitted again under
the same ids, which the network takes for the same instructions. What may be sent no more is not
sent again: the network is asked whether it has it (decision 0105). So it is with what may not be
sent for now, before it is put away (decision 0118).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import structlog
from django.db import transaction

from common import leases
from common.leases import Leased
from networks.base import (
    Accepted,
    Answer,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    NetworkUnavailable,
    PaymentNetwork,
)
from transfers.contract import Row, Transfer

log = structlog.get_logger(__name__)

RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (2, 5, 30, 120, 600))
# What a lease leaves us besides the network's call: half before it, half to record what it said.
OURS = timedelta(seconds=10)
# Questions before the call, but for the first, begin no later than this after the claim, so that
# most of the time is left for the call.
ASKS_FIRST = OURS / 8


Said = TypeVar("Said")


class _OutOfTime(Exception):
    """A call that begins now might outlast the lease."""


@dataclass(frozen=True)
class Batch(Generic[Row]):
    """Rows of one network, claimed together. `begun` is when they were, by `time.monotonic`."""

    transfer: Transfer[Row]
    network: PaymentNetwork
    rows: list[Row]
    now: datetime
    begun: float
    _silent: list[Exception] = field(default_factory=list)
    # What the network said about rows that it was asked for, by their ids, or that it was silent.
    _found: dict[str, Accepted | NetworkUnavailable | None] = field(default_factory=dict)

    def submit(self) -> bool:
        """Hand over what may be sent, then see to the rest. Returns whether the network answered,
        where it was asked."""
        self.transfer.refresh(self.rows, self.now)
        ready, refusals = self._judged()
        short = self.transfer.short([row for row in self.rows if row.pk in ready])
        aside = {*refusals, *(pk for pk, is_short in short.items() if is_short)}
        self._ask_first([row for row in self.rows if row.pk in aside])
        answers = self._call([ready[pk] for pk, is_short in short.items() if not is_short])
        self._record([row for row in self.rows if row.pk not in aside], answers)
        self._see_to([row for row in self.rows if row.pk in aside], refusals)
        return not self._silent

    # --- Before the call

    def _judged(self) -> tuple[dict[str, Instruction], dict[str, InstructionRefused]]:
        """What may be sent, and what may not. What breaks is in neither: a person must look, and
        the others must not wait for that."""
        ready, refusals = {}, {}
        for row in self.rows:
            try:
                self.transfer.require_sendable(row)
                ready[row.pk] = self.transfer.instruction(row)
            except InstructionRefused as refusal:
                refusals[row.pk] = refusal
            except Exception:
                log.exception("submission_failed", instruction_id=row.pk)
        return ready, refusals

    def _ask_first(self, aside: list[Row]) -> None:
        """Ask about what was tried so often that an answer settles it, before the call.

        A slow network leaves no time after it, so they would be put off for ever. One question
        fits in any case. If it takes the time of the call, what was to be sent is tried again in
        seconds, and the rest of these in minutes.
        """
        overdue = [row for row in aside if row.attempts > len(RETRY_AFTER)]
        for number, row in enumerate(overdue):
            if self._is_past(ASKS_FIRST if number else OURS / 2):
                return
            try:
                self._found[row.pk] = self.network.find(row.pk)
            except NetworkUnavailable as error:
                self._found[row.pk] = error
            except Exception:
                log.exception("submission_failed", instruction_id=row.pk)

    def _require_time(self) -> None:
        if self._is_past(OURS / 2):
            raise _OutOfTime("no time is left for a call")

    def _is_past(self, limit: timedelta) -> bool:
        return time.monotonic() - self.begun > limit.total_seconds()

    # --- The call, and what it said

    def _call(self, instructions: list[Instruction]) -> Mapping[str, Answer]:
        """Every answer of the network. What has none may be there or not."""
        if not instructions:
            return {}
        try:
            self._require_time()
            return self.network.submit_many(instructions, now=self.now)
        except (NetworkUnavailable, _OutOfTime) as error:
            self._silent.append(error)
            self._note_silence(error, instructions=len(instructions))
        except Exception:
            ids = [each.id for each in instructions]
            log.exception("submission_failed", network=self.network.name, instruction_ids=ids)
            if len(instructions) > 1:
                return self._call_singly(instructions)
        return {}

    def _call_singly(self, instructions: list[Instruction]) -> Mapping[str, Answer]:
        """For an adapter that breaks over one of them, which must not hold up the others."""
        answers: dict[str, Answer] = {}
        for each in instructions:
            if not self._silent:
                answers |= self._call([each])
        return answers

    def _record(self, rows: list[Row], answers: Mapping[str, Answer]) -> None:
        """Write down what is accepted, and plan another try of what has no answer, in one
        transaction; then each refusal in its own, which touches the account and the balance."""
        accepted, refused = _of(Accepted, answers), _of(InstructionRefused, answers)
        for pk, conflict in _of(InstructionConflict, answers).items():
            log.error("submission_failed", instruction_id=pk, error=str(conflict))
        if unanswered := _of(NetworkUnavailable, answers):
            error = next(iter(unanswered.values()))
            self._note_silence(error, instructions=len(unanswered))
        together = [row for row in rows if row.pk not in refused]
        try:
            self._record_together(together, accepted)
        except Exception:  # one of them is a bug's: each for itself, so that the others are done
            log.exception("submissions_not_recorded", network=self.network.name)
            self._record_singly(together, self.transfer.accepted, accepted)
        alone = [row for row in rows if row.pk in refused]
        self._record_singly(alone, self.transfer.refused, refused)

    @transaction.atomic
    def _record_together(self, rows: list[Row], accepted: Mapping[str, Accepted]) -> None:
        held = leases.finish_many(
            [(row, None if row.pk in accepted else _next_try(row, self.now)) for row in rows]
        )
        ours = [(row, accepted[row.pk]) for row in rows if row.pk in held and row.pk in accepted]
        self.transfer.accepted_together(ours, self.now)

    def _record_singly(
        self,
        rows: Iterable[Row],
        record: Callable[[Row, Any, datetime], None],
        answers: Mapping[str, Any],
    ) -> None:
        left = []
        for row in rows:
            try:
                if row.pk in answers:
                    self._record_one(row, record, answers[row.pk])
                    continue
            except Exception:
                log.exception("submission_failed", instruction_id=row.pk)
            left.append(row)
        put_off(left, self.now)

    @transaction.atomic
    def _record_one(
        self, claimed: Row, record: Callable[[Row, Any, datetime], None], answer: Any
    ) -> None:
        row = self.transfer.lock(claimed.pk)
        if row is None or row.lease_version != claimed.lease_version:
            return
        leases.finish(row)
        record(row, answer, self.now)

    # --- What was not handed over

    def _see_to(self, aside: list[Row], refusals: Mapping[str, InstructionRefused]) -> None:
        """Of each that was tried before, ask whether the network has it; fail or put away what it
        surely has not."""
        answers: dict[str, Answer] = {}
        put_away = set()
        for row in aside:
            try:
                if row.attempts > 1 and (receipt := self._taken_over_before(row)):
                    answers[row.pk] = receipt
                elif row.pk in refusals:
                    answers[row.pk] = refusals[row.pk]
                else:
                    self._keep_back(row)
                    put_away.add(row.pk)
            except (NetworkUnavailable, _OutOfTime) as error:
                self._note_silence(error, instructions=1)
            except Exception:
                log.exception("submission_failed", instruction_id=row.pk)
        self._record([row for row in aside if row.pk not in put_away], answers)

    def _keep_back(self, row: Row) -> None:
        """Put a short row away; or give it back to the queue, as nothing is short any more."""
        if self.transfer.keep_back(row, self.now):
            log.info("submission_held_back", instruction_id=row.pk)
        else:
            leases.finish_many([(row, self.now)])

    def _taken_over_before(self, row: Row) -> Accepted | None:
        """The receipt of an earlier try whose answer was lost; None when it never arrived.

        A call that we gave up may still be on its way, so the network is believed that it has
        nothing only after the longest pause. Raises NetworkUnavailable until then; and at once for
        all others when it did not answer about one.
        """
        if row.pk not in self._found:
            self._ask(row)
        accepted = self._found[row.pk]
        if isinstance(accepted, NetworkUnavailable):
            self._silent.append(accepted)
            raise accepted
        if accepted is None and row.attempts <= len(RETRY_AFTER):
            raise NetworkUnavailable("an earlier try may still arrive")
        return accepted

    def _ask(self, row: Row) -> None:
        if self._silent:
            raise self._silent[0]
        self._require_time()
        try:
            self._found[row.pk] = self.network.find(row.pk)
        except NetworkUnavailable as error:
            self._silent.append(error)
            raise

    def _note_silence(self, error: Exception, *, instructions: int) -> None:
        log.warning(
            "network_unavailable",
            network=self.network.name,
            instructions=instructions,
            error=str(error),
        )


def put_off(rows: Iterable[Row], now: datetime) -> None:
    """Try each of them again later, if nobody else has it meanwhile. One that somebody keeps
    locked is due again when its lease ends."""
    for row in rows:
        try:
            leases.finish_many([(row, _next_try(row, now))])
        except Exception:
            log.exception("submission_failed", instruction_id=row.pk)


def _next_try(row: Leased, now: datetime) -> datetime:
    return now + RETRY_AFTER[min(row.attempts, len(RETRY_AFTER)) - 1]


def _of(kind: type[Said], answers: Mapping[str, object]) -> dict[str, Said]:
    return {pk: answer for pk, answer in answers.items() if isinstance(answer, kind)}
