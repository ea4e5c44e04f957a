"""Makes the rows of messages from us: numbered, written, and ready to be handed over."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from common import crypto
from common.engine import sql
from networks.instant.iso import ids, writer
from networks.instant.iso.messages import Header
from networks.instant.iso.messages import Message as IsoMessage
from networks.instant.iso.profiles import EASTERN
from networks.instant.models import Conversation, Message
from networks.instant.rails import RailInForce
from networks.instant.states import Direction, MessageStatus

# From the sequence of the table, so that a message's number is its row's.
_NUMBERS = """
SELECT nextval(pg_get_serial_sequence('instant_message', 'id'))
FROM generate_series(1, %(count)s::integer)
"""


class Naming(NamedTuple):
    """What a new message is called."""

    number: int
    message_id: str
    instruction_id: str
    now: datetime


def names(rail: RailInForce, count: int, *, now: datetime) -> list[Naming]:
    """The names of new messages of a rail. One query."""
    moment = now.replace(microsecond=0)  # messages have full seconds
    day = moment.astimezone(EASTERN).date()
    whose = rail.terms.participant
    return [
        Naming(
            number,
            ids.message_id(rail.profile, participant=whose, day=day, number=number),
            ids.instruction_id(rail.profile, participant=whose, day=day, number=number),
            moment,
        )
        for (number,) in sql.rows(_NUMBERS, {"count": count})
    ]


def outgoing(
    rail: RailInForce,
    conversation: Conversation | None,
    said: IsoMessage,
    naming: Naming,
    *,
    related: Message | None = None,
    now: datetime,
) -> Message:
    """The unsaved row of a message from us, which is due at once."""
    header = Header(
        message_id=naming.message_id,
        business_id=ids.business_id(rail.profile, naming.message_id),
        sender=rail.terms.participant,
        receiver=rail.profile.operator,
        created_at=naming.now,
    )
    content = writer.write(said, header, rail.profile)
    return Message(
        id=naming.number,
        rail_id=rail.name,
        conversation=conversation,
        direction=Direction.OUT,
        name=said.kind,
        message_id=naming.message_id,
        related=related,
        said=said_by(said),
        status=MessageStatus.TO_SEND,
        next_attempt_at=now,
        created_at=now,
        **sealed(content, Direction.OUT),
    )


def write_one(
    rail: RailInForce,
    conversation: Conversation | None,
    make: Callable[[Naming], IsoMessage],
    *,
    related: Message | None = None,
    now: datetime,
) -> Message:
    """The row of one new message from us, in the caller's transaction."""
    (naming,) = names(rail, 1, now=now)
    row = outgoing(rail, conversation, make(naming), naming, related=related, now=now)
    row.save(force_insert=True)
    return row


def sealed(content: bytes, direction: Direction) -> dict[str, Any]:
    """The bytes of a message as its row keeps them: encrypted, with their digest."""
    digest = hashlib.sha256(content).hexdigest()
    context = Message.context_of(direction, digest)
    token = crypto.encrypt(content.decode("latin-1"), context=context)
    return {"content_token": token, "sha256": digest, "size": len(content)}


def said_by(message: IsoMessage) -> str:
    """What a report or an answer says, in short: `RJCT AC03`."""
    status = getattr(message, "status", "")
    reason = str(getattr(message, "reason", "")) or getattr(message, "code", "")
    return " ".join(filter(None, (status, reason)))[:40]
