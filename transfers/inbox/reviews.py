"""What a person does about a message that was put aside. Both acts are written to the audit log."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from common.errors import StaffRefusal
from networks.base import EventKind
from tenants.actors import Actor
from tenants.services import audit
from transfers.inbox.models import NOTE_LENGTH_MAX, InboundEvent, InboundOutcome

# How long a message about an open transfer may wait for a person before the audit reports it.
WAITS_AT_MOST = timedelta(hours=1)


class NotOpen(StaffRefusal):
    code = "message_not_open"
    title = "Nothing to settle"
    advice = "Look again: the message was applied, or somebody has settled it."


class NoteNeeded(StaffRefusal):
    code = "note_needed"
    title = "A note is needed"
    advice = "Say in a sentence what you found and did."


def waiting() -> QuerySet[InboundEvent]:
    """Messages that wait for a person."""
    return InboundEvent.objects.filter(outcome=InboundOutcome.REVIEW)


def overdue(id_prefix: str) -> QuerySet[InboundEvent]:
    """Messages about ids with this prefix that have waited for too long, by the
    database's clock."""
    return InboundEvent.objects.filter(
        outcome=InboundOutcome.REVIEW,
        instruction_id__startswith=id_prefix,
        decided_at__lt=Now() - WAITS_AT_MOST,
    )


@transaction.atomic
def resolve(*, event_id: int, note: str, actor: Actor, now: datetime) -> InboundEvent:
    """Close a message without applying it. Raises NotOpen, NoteNeeded."""
    note, event = _checked(note), _lock_open(event_id)
    event.outcome, event.next_attempt_at = InboundOutcome.RESOLVED, None
    event.resolution, event.resolved_by, event.resolved_at = note, actor.id, now
    event.answer_due_at = now if event.kind == EventKind.CORRECTED else None
    event.save(
        update_fields=(
            "outcome",
            "next_attempt_at",
            "resolution",
            "resolved_by",
            "resolved_at",
            "answer_due_at",
        )
    )
    _audit("network_event.resolved", event, actor, now, note=note)
    return event


@transaction.atomic
def retry(*, event_id: int, note: str, actor: Actor, now: datetime) -> InboundEvent:
    """Let the next sweep try a message again. Raises NotOpen, NoteNeeded."""
    note, event = _checked(note), _lock_open(event_id)
    event.outcome, event.next_attempt_at, event.attempts = InboundOutcome.NEW, now, 0
    event.decided_at, event.refused_in = None, ""
    event.save(update_fields=("outcome", "next_attempt_at", "attempts", "decided_at", "refused_in"))
    _audit("network_event.retried", event, actor, now, note=note)
    return event


def _checked(note: str) -> str:
    if not 1 <= len(note := note.strip()) <= NOTE_LENGTH_MAX:
        raise NoteNeeded(f"A note of 1 to {NOTE_LENGTH_MAX} characters is needed.", field="note")
    return note


def _lock_open(event_id: int) -> InboundEvent:
    event = InboundEvent.objects.select_for_update(no_key=True).get(pk=event_id)
    if event.outcome not in {InboundOutcome.NEW, InboundOutcome.REVIEW}:
        raise NotOpen(f"This message is {event.outcome}.")
    return event


def _audit(action: str, event: InboundEvent, actor: Actor, now: datetime, *, note: str) -> None:
    audit.record(
        tenant_id=None,
        actor=actor,
        action=action,
        subject_id=event.instruction_id,
        details={"network": event.network, "eventId": event.event_id},
        staff_note=note,
        now=now,
    )
