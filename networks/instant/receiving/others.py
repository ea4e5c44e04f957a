"""What else comes: requests for a return of funds, questions, and refusals of messages as such."""

from __future__ import annotations

from datetime import datetime

from networks.instant import reviewing, settling
from networks.instant.iso.messages import (
    FIRSTS,
    CreditTransfer,
    Rejection,
    Resolution,
    ReturnRequest,
    StatusRequest,
)
from networks.instant.models import Message, ReturnAsk
from networks.instant.rails import RailInForce
from networks.instant.receiving import matching
from networks.instant.receiving.faults import Fault
from networks.instant.states import AskStatus, ConversationStatus, MessageStatus

_KNOWN_BEFORE = "DUPLICATE"


def asked_back(rail: RailInForce, row: Message, said: ReturnRequest, now: datetime) -> None:
    """Another bank asks for the money of a credit back (camt.056): a person decides. Raises
    Fault."""
    about = matching.theirs(rail, said.original_message_id)
    if about is None or about.name != CreditTransfer.kind:
        raise matching.nothing(rail, said.original_message_id)
    row.related, row.conversation_id = about, about.conversation_id
    credit = matching.conversation(about, end_to_end_id=said.original_end_to_end_id)
    if said.amount != credit.amount:  # it names the whole amount, and all of it goes back
        raise Fault("amounts_disagree")
    if credit.status in {ConversationStatus.REJECTED, ConversationStatus.RETURNED}:
        raise Fault("too_late")
    ReturnAsk.objects.create(
        rail_id=rail.name,
        message=row,
        conversation=credit,
        case_id=said.case_id[:35],
        code=str(said.reason)[:16],
        information=said.reason.text[:140],
        amount=said.amount,
        status=AskStatus.OPEN,
        created_at=now,
    )


def asked_what_became(rail: RailInForce, row: Message, said: StatusRequest, now: datetime) -> None:
    """The network asks about money to us (pacs.028): our answer is said again. Raises Fault."""
    about = matching.theirs(rail, said.original_message_id)
    if about is None:
        raise matching.nothing(rail, said.original_message_id)
    row.related, row.conversation_id = about, about.conversation_id
    settling.say_again(about, now=now)


def not_readable(rail: RailInForce, row: Message, said: Rejection, now: datetime) -> None:
    """The network could not take a message of ours (admi.002). Raises Fault."""
    about = matching.ours(rail, said.reference)
    if about is None:
        raise matching.nothing(rail, said.reference)
    row.related, row.conversation_id = about, about.conversation_id
    if said.code == _KNOWN_BEFORE or about.name == StatusRequest.kind:
        return  # it has the message; or whoever asked asks again
    conversation = matching.conversation(about)
    was_before = about.status == MessageStatus.ANSWERED or settling.may_be_there(about)
    if about.name in FIRSTS and not was_before and conversation.status == ConversationStatus.SENT:
        settling.end(Message.objects.filter(pk=about.pk), now=now)
        settling.rejected(conversation, code=said.code[:16], reason=said.text, now=now)
        return
    reviewing.put_to_a_person(conversation.pk, "message_refused", now=now)


def unexpected(rail: RailInForce, row: Message, said: Resolution, now: datetime) -> None:
    """We ask nobody for money back by camt.056, so nobody answers that. Raises Fault."""
    raise matching.nothing(rail, said.original_message_id or said.case_id)
