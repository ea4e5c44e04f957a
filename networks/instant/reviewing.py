"""What a person has looked at: a conversation, or a message that has a fault. Nothing moves by it.

The caller writes the audit log.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest

from common.errors import StaffRefusal
from networks import columns
from networks.instant.models import Conversation, Message
from networks.instant.states import MessageStatus


class ReviewRefused(StaffRefusal):
    code = "instant_review_refused"
    title = "Nothing was resolved"
    advice = "Look at it again: somebody may have resolved it, or something new happened."


def conversations() -> QuerySet[Conversation]:
    """Those that a person has to look at, by an index of them alone."""
    is_open = Q(resolved_at=None) | Q(resolved_at__lt=F("review_since"))
    return Conversation.objects.filter(is_open, review_since__isnull=False)


def messages() -> QuerySet[Message]:
    """Messages with a fault that nobody has looked at, by an index of them alone."""
    return Message.objects.filter(status=MessageStatus.FAULTY, resolved_at=None)


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
