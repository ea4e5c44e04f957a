"""Applies the networks' messages, each at most once, many at a time where they are plain (`sets`).

A message that cannot be right (another amount, a status that does not allow it) changes nothing and
is put aside for a person. One that comes too early (before the answer to the submission is
recorded) waits. One that implies a step that no message reported (a settlement: that it was
accepted) makes that step first. A message that was put aside because of its row's status is judged
again once the row has moved. The `MessageHandler` of an app says which rows messages are about, and
what they do to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction

from common.database import outages
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine.lookups import one_of
from networks import return_codes
from networks.base import EventKind
from tenants import actors
from tenants.actors import Actor
from transfers.contract import MessageHandler, Subject
from transfers.inbox import arrivals, corrections, judging, sets
from transfers.inbox.models import MEANING, InboundEvent, InboundOutcome
from transfers.inbox.queue import Queue

log = structlog.get_logger(__name__)

# After this many messages a run makes room for other work; the next one goes on.
RUN_MAX = 1_000
# After so many failures to apply a message, a person looks at it.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3600))
KNOWN_BEFORE = "known before, by a message that implied it or by hand"


def actor_of(event: InboundEvent) -> Actor:
    """The actor of what the message does: the network, or the member of staff who approved it by
    hand."""
    return actors.staff(event.by_hand) if event.by_hand else actors.network(event.network)


@judged
def process(handler: MessageHandler[Subject], *, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    arrivals.collect_all(id_prefix=handler.id_prefix, now=now)
    return apply_new(handler, now=now)


@by(WORKER)
@judged
def run(handler: MessageHandler[Subject], *, now: datetime, wake: Callable[[], object]) -> None:
    """Collect and apply what the networks have, as much as one run takes.

    `wake` is called once, as soon as it is known that there may be more than that: after the first
    messages that were applied if a whole page came, otherwise when many were. So another worker
    collects the next page while this one applies. Where nothing can be applied the next sweep is
    early enough. Corrections of accounts move no money and come last.
    """
    came = arrivals.collect_alone(id_prefix=handler.id_prefix, now=now)
    many = 0 if came >= arrivals.POLL_BATCH else RUN_MAX // 2
    _Run(handler, now, RUN_MAX, many=many, wake=wake).go()
    corrections.apply_new(handler, now=now)


@judged
def apply_new(handler: MessageHandler[Subject], *, now: datetime, limit: int = RUN_MAX) -> int:
    """Apply stored messages in the order of arrival, those about one row each by itself; returns
    how many were applied.

    A message that has to wait goes to the end of the queue, so that many of them do not stop the
    rest. Corrections of accounts are apart from the others: not inside a transaction.
    """
    corrected = corrections.apply_new(handler, now=now)
    return corrected + _Run(handler, now, limit).go()


@transaction.atomic
def apply(handler: MessageHandler[Subject], *, event_id: int, now: datetime) -> bool:
    """Apply one stored message; True when its row allowed it."""
    taken = sets.by_ids(handler, [event_id])()  # none where another worker has it
    return any(_apply_locked(handler, event, now) for event in taken)


def look_again(row_ids: Sequence[str], *, now: datetime) -> int:
    """Judge again what was put aside because of the rows' statuses, after the rows have moved;
    returns how many messages that were."""
    refused = InboundEvent.objects.filter(
        one_of("instruction_id", row_ids), outcome=InboundOutcome.REVIEW
    )
    return refused.exclude(refused_in="").update(
        outcome=InboundOutcome.NEW, next_attempt_at=now, decided_at=None
    )


def columns_of(event: InboundEvent, *, now: datetime) -> dict[str, object]:
    """The columns that a message fills besides the status."""
    said: dict[str, object] = {"trace_number": event.trace_number} if event.trace_number else {}
    return said | _failure(event, now=now)


def _failure(event: InboundEvent, *, now: datetime) -> dict[str, object]:
    """The columns that a failing message fills, in the words of the return-code table."""
    if event.kind not in {EventKind.REJECTED, EventKind.RETURNED}:
        return {}
    known = return_codes.lookup(event.code)
    failure: dict[str, object] = {
        "failure_code": event.code,
        "failure_message": f"{known.meaning} {known.advice}"[:300],
    }
    if event.kind == EventKind.RETURNED:
        failure |= {
            "returned": True,
            "return_code": event.code,
            "return_reason": known.title,
            "returned_at": now,
        }
    return failure


@dataclass
class _Run(Generic[Subject]):
    """One run, of about `limit` messages at most. It calls `wake` when it has applied more than
    `many`."""

    handler: MessageHandler[Subject]
    now: datetime
    limit: int
    many: int = 0
    wake: Callable[[], object] | None = None
    applied: int = 0
    # What it has judged and not applied.
    passed: set[int] = field(default_factory=set)
    # What it could not look at, because somebody else had it or what it needs.
    kept: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        # At least two sets fill a run, so that what goes alone has its turn in between.
        self.size = min(settings.NETWORK_MESSAGES_PER_SET, max(self.limit // 2, 1))
        kinds = self.handler.in_sets if self.size > 1 else ()
        self.queue = Queue(handler=self.handler, kinds=kinds, now=self.now)

    def go(self) -> int:
        """Sets, and after each full one what is ahead of its end and goes alone; then the rest
        that goes alone. Returns how many were applied."""
        is_more = True
        while is_more and self.limit > 0:
            first = self._set() if self.queue.kinds else []
            self._tell_of_more()
            if 0 < len(first) < self.size:
                continue  # with what is behind these
            is_more = self._one_by_one(first[-1] if first else None) or bool(first)
        self._tell_of_more()
        return self.applied

    def _tell_of_more(self) -> None:
        if self.wake is not None and self.applied > self.many:
            self.wake()
            self.wake = None

    # --- Together

    def _set(self) -> list[InboundEvent]:
        """Apply the first messages of the queue together; returns them."""
        taken: list[InboundEvent] = []

        def take() -> list[InboundEvent]:
            limit = min(self.size, self.limit)
            taken.extend(self.queue.together(limit=limit, passed=self.passed, kept=self.kept))
            return taken

        try:
            self._note(sets.apply(self.handler, take, now=self.now))
        except Exception as error:
            self._undone([event.pk for event in taken], error)
        self.limit -= len(taken)
        return taken

    def _undone(self, ids: list[int], error: Exception) -> None:
        """Apply in another way what could not be applied together.

        One that cannot be digested is found by trying halves. Where it is the database's trouble,
        no half waits again.
        """
        if outages.is_lock_timeout(error):
            log.warning("network_events_met_a_lock", count=len(ids))
            self._around_locks(ids)
            return
        log.exception("network_events_undone", count=len(ids))
        half = len(ids) // 2
        if half == 0 or isinstance(error, OperationalError | InterfaceError):
            self._each(ids)
            return
        for part in (ids[:half], ids[half:]):
            try:
                self._note(self._apply(part))
            except Exception as its_error:
                self._undone(part, its_error)

    def _around_locks(self, ids: list[int]) -> None:
        """Apply at once what needs no balance that somebody has locked. Then the rest by tenant,
        because whoever waits for one balance then holds no other; what waits in vain is left to
        the next run."""
        try:
            outcome = self._apply(ids, skip_busy=True)
        except Exception:
            log.exception("network_events_undone", count=len(ids))
            self._each(ids)
            return
        self._note(outcome)
        for those in outcome.busy:
            try:
                self._note(self._apply(those))
            except Exception as error:
                self.kept.update(those)
                if not outages.is_lock_timeout(error):
                    self._undone(those, error)

    def _apply(self, ids: Sequence[int], *, skip_busy: bool = False) -> sets.Outcome:
        take = sets.by_ids(self.handler, ids)
        return sets.apply(self.handler, take, now=self.now, skip_busy=skip_busy)

    def _note(self, outcome: sets.Outcome) -> None:
        self.applied += outcome.applied
        self._each(outcome.left)

    # --- Alone

    def _one_by_one(self, end: InboundEvent | None) -> bool:
        """Apply what goes alone, up to `end`; returns whether there was anything."""
        before = self.limit
        while self.limit > 0 and self._alone(lambda: self.queue.alone(self.passed, end, self.kept)):
            self.limit -= 1
        return self.limit < before

    def _each(self, ids: Sequence[int]) -> None:
        self.kept.update(ids)
        for event_id in ids:
            self._alone(sets.by_ids(self.handler, [event_id]))

    def _alone(self, take: sets.Take) -> bool:
        """Apply one message; returns whether there was one. An error is noted on it, so that the
        other messages are not held up."""
        event_id, is_applied = None, False
        try:
            with transaction.atomic():
                for event in take():  # one, or none where another worker has it
                    event_id = event.pk
                    is_applied = _apply_locked(self.handler, event, self.now)
            self.applied += is_applied
        except (OperationalError, InterfaceError):  # the database's trouble, not the message's
            log.exception("network_event_interrupted", event_id=event_id)
            if event_id is not None:
                self.kept.add(event_id)
            return event_id is not None
        except Exception as error:
            log.exception("network_event_failed", event_id=event_id)
            if event_id is not None:
                _note_failure(self.handler, event_id, type(error).__name__, self.now)
        if event_id is None:
            return False
        self.passed.add(event_id)
        return True


def _apply_locked(handler: MessageHandler[Subject], event: InboundEvent, now: datetime) -> bool:
    row = handler.lock(event.instruction_id)
    if row is None:
        return _close(event, InboundOutcome.REVIEW, f"no such {handler.noun}", now)
    if handler.repeats(row, event):
        return _close(event, InboundOutcome.APPLIED, KNOWN_BEFORE, now)
    if objection := judging.objection(handler, event, row):
        handler.contradicted(row, event, now)
        return _close(event, InboundOutcome.REVIEW, objection, now)
    return _judge(handler, row, event, now)


@transaction.atomic
def _note_failure(
    handler: MessageHandler[Subject], event_id: int, error: str, now: datetime
) -> None:
    """Note the error and try again later; after the last try a person has to look."""
    event = judging.waiting(handler).select_for_update(skip_locked=True).filter(pk=event_id).first()
    if event is None:
        return
    event.attempts += 1
    event.note = f"could not be applied, {event.attempts} tries: {error}"[:200]
    if event.attempts > len(RETRY_AFTER):
        _close(event, InboundOutcome.REVIEW, event.note, now)
    else:
        event.next_attempt_at = now + RETRY_AFTER[event.attempts - 1]
    event.save(update_fields=("attempts", "note", "next_attempt_at"))


def _judge(handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime) -> bool:
    """Apply the message to `row`, leave it for later, or put it aside; returns whether it was
    applied."""
    others = judging.others([event])[event.instruction_id]
    if judging.must_wait(handler, row, event, others, now):
        return _put_off(event, now)
    return apply_to(handler, row, event, now)


def apply_to(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Apply a message that waits for nothing to its row, which the caller has locked.

    Returns whether it was applied; if not, a person looks at it.
    """
    verdict = judging.verdict(handler, row, event)
    sets.carry_out(handler, [verdict], now=now)
    if verdict.target is None:
        return _note_or_refuse(handler, row, event, now)
    return _close(event, InboundOutcome.APPLIED, "", now)


def _note_or_refuse(
    handler: MessageHandler[Subject], row: Any, event: InboundEvent, now: datetime
) -> bool:
    """Note the first message that says what another one already implied; put others aside for a
    person."""
    applied = InboundEvent.objects.alias(meaning=MEANING).filter(
        instruction_id=event.instruction_id, meaning=event.says, outcome=InboundOutcome.APPLIED
    )
    is_known = handler.knows(row, EventKind(event.says)) or applied.exclude(by_hand="").exists()
    if is_known and not applied.filter(by_hand="").exists():
        return _close(event, InboundOutcome.APPLIED, KNOWN_BEFORE, now)
    event.refused_in = str(row.status)
    words = row.get_status_display().lower()
    return _close(event, InboundOutcome.REVIEW, f'{handler.noun} is "{words}"', now)


def _put_off(event: InboundEvent, now: datetime) -> bool:
    event.next_attempt_at = now
    event.save(update_fields=("next_attempt_at",))
    return False


def _close(event: InboundEvent, outcome: InboundOutcome, note: str, now: datetime) -> bool:
    event.outcome, event.note, event.decided_at = outcome, note[:200], now
    event.next_attempt_at = None
    event.save(update_fields=("outcome", "note", "decided_at", "next_attempt_at", "refused_in"))
    if outcome == InboundOutcome.REVIEW:
        log.warning("network_event_for_review", event_id=event.pk, note=note)
    return outcome == InboundOutcome.APPLIED
