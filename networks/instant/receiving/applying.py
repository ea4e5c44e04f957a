"""Applies the messages of a rail one by one, in the order in which they came.

One worker at a time applies those of a rail: whoever does holds the row of its line. A message that
has a fault, or breaks us, keeps nobody else's waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction

from networks.instant import settling
from networks.instant.iso import reader
from networks.instant.iso.messages import (
    CreditTransfer,
    PaymentReturn,
    Rejection,
    RequestAnswer,
    RequestForPayment,
    Resolution,
    ReturnRequest,
    StatusReport,
    StatusRequest,
)
from networks.instant.models import InstantLine, Message
from networks.instant.rails import RailInForce
from networks.instant.receiving import answers, credits, others, reports
from networks.instant.receiving.faults import Fault
from networks.instant.states import MESSAGE_STATES, Direction, MessageStatus

log = structlog.get_logger(__name__)

Apply = Callable[[RailInForce, Message, Any, datetime], None]
# After so many failures to apply a message a person looks at it.
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (1, 5, 30, 120, 600))


def _asked_to_pay(rail: RailInForce, row: Message, said: RequestForPayment, now: datetime) -> None:
    """Nobody asks us to pay: our account is for what we ask for ourselves. Raises Fault."""
    raise Fault("unexpected")


_APPLIED_BY: Mapping[type, Apply] = MappingProxyType(
    {
        StatusReport: reports.apply,
        RequestAnswer: answers.apply,
        CreditTransfer: credits.apply,
        PaymentReturn: credits.apply,
        ReturnRequest: others.asked_back,
        StatusRequest: others.asked_what_became,
        Rejection: others.not_readable,
        Resolution: others.unexpected,
        RequestForPayment: _asked_to_pay,
    }
)


def apply_new(rail: RailInForce, *, now: datetime, limit: int = 500) -> int:
    """Apply what is stored and due. Returns how many messages that were."""
    count = 0
    while count < limit and _apply_next(rail, now):
        count += 1
    return count


def is_done(rail: RailInForce) -> bool:
    """Whether everything that is stored is applied, or has a fault."""
    return not _new(rail).exists()


def _new(rail: RailInForce) -> Any:
    return Message.objects.filter(
        rail_id=rail.name, direction=Direction.IN, status=MessageStatus.RECEIVED
    )


def _apply_next(rail: RailInForce, now: datetime) -> bool:
    """Apply the oldest message that is due; whether there was one. Raises what the database
    does."""
    row = None
    try:
        with transaction.atomic():
            InstantLine.objects.select_for_update(no_key=True).get(pk=rail.name)
            due = _new(rail).filter(next_attempt_at__lte=now).order_by("pk")
            row = due.select_for_update(no_key=True, of=("self",)).first()
            if row is None:
                return False
            _apply(rail, row, now)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        if row is None:
            raise
        log.exception("instant_message_failed", message=row.pk, rail=rail.name)
        _note_failure(row.pk, type(error).__name__, now)
    return True


def _apply(rail: RailInForce, row: Message, now: datetime) -> None:
    said = reader.read(row.content, rail.profile).message
    try:
        with transaction.atomic():
            _APPLIED_BY[type(said)](rail, row, said, now)
    except Fault as fault:
        _note_fault(rail, row, fault, now)
        return
    MESSAGE_STATES.advance(row, MessageStatus.APPLIED, **_found(row), applied_at=now)


def _found(row: Message) -> dict[str, Any]:
    """What was found out about a message, which is not due any more."""
    related_id = row.related.pk if row.related else None
    return {
        "related_id": related_id,
        "conversation_id": row.conversation_id,
        "next_attempt_at": None,
    }


def _note_fault(rail: RailInForce, row: Message, fault: Fault, now: datetime) -> None:
    log.error("instant_message_has_a_fault", message=row.pk, rail=rail.name, fault=fault.code)
    MESSAGE_STATES.advance(
        row,
        MessageStatus.FAULTY,
        **_found(row),
        fault=fault.code,
        fault_detail=fault.detail[:200],
    )
    if fault.conversation_id:
        settling.contradicted(fault.conversation_id, settled_on=fault.settled_on, now=now)


@transaction.atomic
def _note_failure(message_id: int, error: str, now: datetime) -> None:
    """Try a message again later; after the last try a person has to look."""
    row = Message.objects.select_for_update(no_key=True).get(pk=message_id)
    if row.status != MessageStatus.RECEIVED:
        return
    if row.attempts >= len(RETRY_AFTER):
        MESSAGE_STATES.advance(
            row,
            MessageStatus.FAULTY,
            fault="not_applied",
            fault_detail=error,
            next_attempt_at=None,
        )
        return
    row.next_attempt_at = now + RETRY_AFTER[row.attempts]
    row.attempts += 1
    row.save(update_fields=("next_attempt_at", "attempts"))
