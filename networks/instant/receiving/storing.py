"""Keeps a message as it came, before anybody acts on it: encrypted, one row each.

A message is known by its id. The same one again, also where it is marked as a duplicate, is
counted, and what we had answered is said again. Another one under a known id is kept, and changes
nothing; so is one that cannot be read. One that was ahead of our clock is judged anew when it comes
again, because our clock may have been slow.
"""

from __future__ import annotations

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import Q

from networks.instant import messages, settling
from networks.instant.iso import documents, reader, writer
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.messages import Rejection
from networks.instant.iso.reader import Read
from networks.instant.models import Message
from networks.instant.rails import RailInForce
from networks.instant.receiving.faults import Fault
from networks.instant.states import Direction, MessageStatus

log = structlog.get_logger(__name__)

_REUSED, _AHEAD = "id_reused", "clock_ahead"
_JUDGED_ANEW = "It was judged anew when it came again"


@transaction.atomic
def store(rail: RailInForce, content: bytes, *, now: datetime) -> None:
    """Keep one message, in a transaction that is this message's alone."""
    try:
        read = reader.read(content, rail.profile)
        canonical = documents.canonical(content)
    except Unreadable as error:
        _keep_stray(rail, content, error.fault, str(error), now)
        return
    first = _known(rail, read)
    if first is None:
        _keep(rail, read, canonical, now)
    elif not _is_same(rail, first, canonical):
        fault = Fault(_REUSED)
        _keep_stray(rail, canonical, fault.code, fault.detail, now, read=read)
    elif first.fault == _AHEAD and _fault(rail, read, now) is None:
        _give_up_its_id(first)
        _keep(rail, read, canonical, now)
    else:
        _again(first, now)


def _known(rail: RailInForce, read: Read) -> Message | None:
    rows = Message.objects.select_for_update(no_key=True, of=("self",)).exclude(fault=_REUSED)
    return rows.filter(
        rail_id=rail.name, direction=Direction.IN, message_id=read.header.message_id
    ).first()


def _is_same(rail: RailInForce, first: Message, content: bytes) -> bool:
    """Whether two messages differ in nothing but the mark of a duplicate."""
    kept = first.content
    if content == kept:
        return True
    return writer.duplicate(content, rail.profile) == writer.duplicate(kept, rail.profile)


def _keep(rail: RailInForce, read: Read, content: bytes, now: datetime) -> None:
    fault = _fault(rail, read, now)
    Message.objects.create(
        rail_id=rail.name,
        direction=Direction.IN,
        name=read.message.kind,
        message_id=read.header.message_id,
        said=messages.said_by(read.message),
        status=MessageStatus.FAULTY if fault else MessageStatus.RECEIVED,
        fault=fault.code if fault else "",
        fault_detail=fault.detail if fault else "",
        created_at=now,
        next_attempt_at=None if fault else now,
        **messages.sealed(content, Direction.IN),
    )
    if fault:
        log.error("instant_message_has_a_fault", rail=rail.name, fault=fault.code)


def _fault(rail: RailInForce, read: Read, now: datetime) -> Fault | None:
    """What is wrong with who a message is for, and when it was made. How long it was on its way is
    not its fault."""
    if read.header.receiver not in {rail.terms.participant, rail.terms.routing_number}:
        return Fault("not_for_us")
    made_at = read.header.created_at
    if not isinstance(read.message, Rejection):
        made_at = max(made_at, read.message.created_at)
    if made_at - now > rail.profile.skew_max:
        return Fault(_AHEAD)
    return None


def _keep_stray(
    rail: RailInForce,
    content: bytes,
    fault: str,
    detail: str,
    now: datetime,
    *,
    read: Read | None = None,
) -> None:
    """Keep what has no id of its own, once per content, whatever a release before this one said of
    it."""
    columns = messages.sealed(content, Direction.IN)
    has_no_id = Q(message_id="") | Q(fault=_REUSED)
    known = Message.objects.filter(
        has_no_id, rail_id=rail.name, direction=Direction.IN, sha256=columns["sha256"]
    ).first()
    if known is not None:
        _count(known)
        return
    Message.objects.create(
        rail_id=rail.name,
        direction=Direction.IN,
        name=read.message.kind if read else "",
        message_id=read.header.message_id if read else "",
        status=MessageStatus.FAULTY,
        fault=fault,
        fault_detail=detail[:200],
        created_at=now,
        **columns,
    )
    log.error("instant_message_has_a_fault", rail=rail.name, fault=fault)


def _give_up_its_id(first: Message) -> None:
    """Leave the id of a message that changed nothing to the next one."""
    first.fault, first.fault_detail = _REUSED, f"{first.fault_detail}. {_JUDGED_ANEW}"
    first.save(update_fields=("fault", "fault_detail"))


def _again(first: Message, now: datetime) -> None:
    """Count a copy, and say again what we had answered."""
    _count(first)
    settling.say_again(first, now=now)
    log.info("instant_message_came_again", message=first.pk, rail=first.rail_id)


def _count(first: Message) -> None:
    first.copies += 1
    first.save(update_fields=("copies",))
