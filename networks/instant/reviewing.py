"""What a person has to look at, or has looked at: a conversation, or a message that has a fault.
Nothing moves by it.

The caller writes the audit log.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest

from common.errors import StaffRefusal
from networks import columns
from networks.instant.models import Conversation, Message
from networks.instant.states import MessageStatus

log = structlog.get_logger(__name__)

# What only lasts is told again so long after a person has looked.
QUIET_FOR = timedelta(days=1)
_IS_OPEN = Q(resolved_at=None) | Q(resolved_at__lt=F("review_since"))


class ReviewRefused(StaffRefusal):
    code = "instant_review_refused"
    title = "Nothing was resolved"
    advice = "Look at it again: somebody may have resolved it, or something new happened."


def conversations() -> QuerySet[Conversation]:
    """Those that a person has to look at, by an index of them alone."""
    return Conversation.objects.filter(_IS_OPEN, review_since__isnull=False)


def messages() -> QuerySet[Message]:
    """Messages with a fault that nobody has looked at, by an index of them alone."""
    return Message.objects.filter(status=MessageStatus.FAULTY, resolved_at=None)


def put_to_a_person(conversation_id: str | None, code: str, *, now: datetime) -> None:
    """Have a person look at a conversation because something new happened. Whoever has another
    matter of it in hand has to look again."""
    if conversation_id is None:
        return
    rows = Conversation.objects.filter(pk=conversation_id)
    if not conversations().filter(pk=conversation_id).update(review_code=code):
        # The clock of whoever resolved it before may be ahead of ours.
        since = Greatest(now, F("resolved_at") + timedelta(microseconds=1))
        rows.update(review_code=code, review_since=since)
    log.error("instant_conversation_for_review", conversation=conversation_id, code=code)


def silent(conversation_id: str | None, *, is_new: bool, now: datetime) -> None:
    """Have a person look at a conversation because nobody answers a message of it. Silence that
    lasts is nothing new for a day, and hides nothing else that a person has to look at."""
    if conversations().filter(pk=conversation_id).exists():
        return
    is_due = Q(review_since=None) | Q(resolved_at__lte=now - QUIET_FOR)
    if is_new or Conversation.objects.filter(is_due, pk=conversation_id).exists():
        put_to_a_person(conversation_id, "silent", now=now)


def resolve(conversation_id: str, *, seen: str, why: str, by: str, now: datetime) -> None:
    """A person has seen to a conversation. `seen` is the review code that the person saw. Raises
    ReviewRefused."""
    why = _required(why)
    rows = conversations().filter(pk=conversation_id, review_code=seen)
    # A worker's clock may be ahead of ours.
    resolved_at = Greatest(now, F("review_since"))
    if not rows.update(resolved_by=by, resolved_at=resolved_at, resolution=why):
        raise ReviewRefused("It does not wait for this decision.")


def resolve_message(message_id: int, *, why: str, by: str, now: datetime) -> None:
    """A person has looked at a message with a fault. Raises ReviewRefused."""
    why = _required(why)
    rows = messages().filter(pk=message_id)
    if not rows.update(resolved_by=by, resolved_at=now, resolution=why):
        raise ReviewRefused("It does not wait for anybody.")


def _required(why: str) -> str:
    if not (why := why.strip()):
        raise ReviewRefused("Say what you found out.")
    return why[: columns.REASON_LENGTH_MAX]
