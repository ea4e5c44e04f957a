"""Writes the message that begins a conversation of ours, or orders its money once more."""

from __future__ import annotations

from datetime import datetime

from networks.instant import messages, writing
from networks.instant.iso import reader
from networks.instant.iso.messages import (
    CreditTransfer,
    PaymentReturn,
    RequestForPayment,
)
from networks.instant.iso.profiles import Returns
from networks.instant.messages import Naming
from networks.instant.models import Conversation, Message
from networks.instant.rails import RailInForce
from networks.instant.states import ConversationKind, Direction


def order(
    rail: RailInForce, row: Conversation, *, now: datetime, instruction_id: str = ""
) -> Message:
    """Store a message that orders the money of a conversation, which is due at once. It has an
    instruction id of its own, or the one that is given."""
    (naming,) = messages.names(rail, 1, now=now)
    if instruction_id:
        naming = naming._replace(instruction_id=instruction_id)
    said = content(rail, row, row.account_number, naming)
    message = messages.outgoing(rail, row, said, naming, now=now)
    message.save(force_insert=True)
    return message


def content(
    rail: RailInForce, row: Conversation, account_number: str, naming: Naming
) -> RequestForPayment | CreditTransfer | PaymentReturn:
    """What the message says. `account_number` is that of the other side."""
    if row.kind == ConversationKind.REQUEST:
        return writing.request(rail, row, account_number, naming)
    if row.kind == ConversationKind.PAYMENT:
        return writing.payment(rail, row, account_number, naming)
    credit = transfer_of(rail, row.original_id)
    if rail.profile.returns == Returns.MESSAGE:
        return writing.give_back(rail, credit, row.amount, naming, code=row.code)
    return writing.payment(rail, row, account_number, naming, returns_of=credit.end_to_end_id)


def transfer_of(rail: RailInForce, credit_id: str | None) -> CreditTransfer:
    """The credit transfer with which a conversation began. Raises LookupError."""
    message = Message.objects.filter(
        conversation_id=credit_id, direction=Direction.IN, name=CreditTransfer.kind
    ).first()
    if message is None:
        raise LookupError(f"{credit_id} began with no credit transfer")
    said = reader.read(message.content, rail.profile).message
    if not isinstance(said, CreditTransfer):
        raise LookupError(f"message {message.pk} is no credit transfer")
    return said
