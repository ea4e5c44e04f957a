"""What a network says of payments (pacs.002): of ours, and of those to us."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from types import MappingProxyType

from networks.instant import ordering, reviewing, settling
from networks.instant.iso.messages import (
    ORDERS,
    CreditTransfer,
    RequestForPayment,
    StatusReport,
    StatusRequest,
)
from networks.instant.models import Conversation, Message
from networks.instant.rails import RailInForce
from networks.instant.receiving import matching
from networks.instant.receiving.faults import Fault
from networks.instant.states import ConversationStatus, MessageStatus

S = ConversationStatus
ATTEMPTS_MAX = 3  # orders of one payment, each after a time-out rejected the one before
_TIMED_OUT = frozenset({"DS24", "E997"})
_NOT_FOUND = "NOOR"
_KNOWN_BEFORE = "DUPL"  # the network has a message of this id: it says nothing new
_CONTRADICTS = "contradicts"


class Meaning(StrEnum):
    """What a status means for the money of a payment."""

    SETTLED = "settled"
    UNPOSTED = "unposted"  # settled, to be posted later
    REJECTED = "rejected"
    NOTHING = "nothing"


# RTP has one word for accepted and settled; FedNow says ACSC once it has settled, and ACCC once it
# is posted as well.
_MEANINGS: Mapping[str, Mapping[str, Meaning]] = MappingProxyType(
    {
        "rtp": {
            "ACTC": Meaning.SETTLED,
            "ACSC": Meaning.SETTLED,
            "ACWP": Meaning.UNPOSTED,
            "RCVD": Meaning.NOTHING,
            "RJCT": Meaning.REJECTED,
        },
        "fednow": {
            "ACSC": Meaning.SETTLED,
            "ACCC": Meaning.SETTLED,
            "ACWP": Meaning.UNPOSTED,
            "ACTC": Meaning.NOTHING,
            "RCVD": Meaning.NOTHING,
            "PDNG": Meaning.NOTHING,
            "BLCK": Meaning.NOTHING,
            "RJCT": Meaning.REJECTED,
        },
    }
)


@dataclass(frozen=True)
class _Heard:
    """A report about a message of a conversation, which is locked."""

    rail: RailInForce
    said: StatusReport
    about: Message
    conversation: Conversation
    now: datetime

    @property
    def code(self) -> str:
        return str(self.said.reason)[:16]

    @property
    def day(self) -> date:
        at = self.said.accepted_at or self.said.created_at
        return self.said.settlement_date or self.rail.profile.settlement_date(at)


def apply(rail: RailInForce, row: Message, said: StatusReport, now: datetime) -> None:
    """Raises Fault."""
    meaning = _MEANINGS[rail.profile.name].get(said.status)
    if meaning is None:
        raise Fault("status_unknown", said.status)
    about = matching.ours(rail, said.original_message_id)
    if about is not None:
        _of_ours(rail, row, said, about, meaning, now)
        return
    about = matching.theirs(rail, said.original_message_id)
    if about is None or about.name not in ORDERS:
        raise matching.nothing(rail, said.original_message_id)
    _note(row, about)
    credit = matching.conversation(about, end_to_end_id=said.original_end_to_end_id)
    _ADVICE[meaning](_Heard(rail, said, about, credit, now))


def _of_ours(
    rail: RailInForce,
    row: Message,
    said: StatusReport,
    about: Message,
    meaning: Meaning,
    now: datetime,
) -> None:
    _note(row, about)
    if about.name == StatusRequest.kind:
        _of_question(rail, said, about, now)
        return
    conversation = matching.conversation(about, end_to_end_id=said.original_end_to_end_id)
    heard = _Heard(rail, said, about, conversation, now)
    if about.name == RequestForPayment.kind:
        _of_request(heard, meaning)
    elif about.name in ORDERS:
        _PAYMENT[meaning](heard)
    elif meaning == Meaning.REJECTED:  # of our answer to money that came in
        reviewing.put_to_a_person(conversation.pk, "answer_rejected", now=now)


def _note(row: Message, about: Message) -> None:
    """Which message a report is about, and whose conversation that is."""
    row.related, row.conversation_id = about, about.conversation_id


# --- Of our payments


def _answered(about: Message, now: datetime) -> None:
    """Nobody has to ask about a message any more."""
    settling.end(Message.objects.filter(pk=about.pk), now=now)


def _is_last(heard: _Heard) -> bool:
    """Whether a report is about the newest order of its payment."""
    newer = Message.objects.filter(
        conversation=heard.conversation, name__in=ORDERS, direction="out", pk__gt=heard.about.pk
    )
    return not newer.exists()


def _payment_settled(heard: _Heard) -> None:
    paid = heard.conversation
    if not _is_last(heard) or paid.status in {S.REJECTED, S.COMING_BACK}:
        raise _contradiction(heard, settled_on=heard.day)
    _answered(heard.about, heard.now)
    if paid.status in {S.SENT, S.SETTLED}:
        settling.settled(paid, day=heard.day, now=heard.now)


def _payment_unposted(heard: _Heard) -> None:
    paid = heard.conversation
    if not _is_last(heard) or paid.status in {S.REJECTED, S.COMING_BACK}:
        raise _contradiction(heard, settled_on=heard.day)
    _answered(heard.about, heard.now)
    if paid.status == S.SENT:
        settling.settled_unposted(heard.rail, paid, day=heard.day, now=heard.now)


def _payment_rejected(heard: _Heard) -> None:
    paid = heard.conversation
    if heard.code == _KNOWN_BEFORE or not _is_last(heard):
        return
    if heard.code == _NOT_FOUND and heard.about.name == CreditTransfer.kind and _was_asked(heard):
        return
    if paid.status == S.SENT:
        _answered(heard.about, heard.now)
        if _said_to_be_settled(paid):
            reviewing.put_to_a_person(paid.pk, "contradicted", now=heard.now)
        elif heard.code in _TIMED_OUT and paid.attempts < ATTEMPTS_MAX:
            _order_again(heard)
        else:
            settling.rejected(paid, code=heard.code, reason=heard.said.reason.text, now=heard.now)
    elif settling.is_final(paid, now=heard.now):
        raise _contradiction(heard)
    elif paid.status == S.SETTLED:
        settling.coming_back(paid, code=heard.code, reason=heard.said.reason.text, now=heard.now)


def _was_asked(heard: _Heard) -> bool:
    """Whether a report that the network has nothing of a payment answers a question, although it
    names the payment: that is no rejection of it. Then the same message goes again, once for each
    question."""
    asked = settling.questions(heard.about)
    is_open = asked.exclude(status=MessageStatus.ANSWERED).exists()
    if is_open:
        settling.end(asked, now=heard.now)
        _hand_over_again(heard.about, heard.now)
    return is_open or asked.exists()


def _said_to_be_settled(paid: Conversation) -> bool:
    """Whether the network said of an earlier order, which it had rejected, that it settled after
    all: then the rejection of a later one does not say that no money moved."""
    contradicting = Message.objects.filter(conversation=paid, direction="in", fault=_CONTRADICTS)
    return contradicting.filter(name=StatusReport.kind).exclude(said__startswith="RJCT").exists()


def _order_again(heard: _Heard) -> None:
    """The same payment under the id of a new message, because a time-out rejected the last one:
    that one never settles."""
    paid = heard.conversation
    ordering.order(heard.rail, paid, now=heard.now)
    Conversation.objects.filter(pk=paid.pk).update(attempts=paid.attempts + 1)


def _of_question(rail: RailInForce, said: StatusReport, question: Message, now: datetime) -> None:
    """The network has nothing of a payment that it was asked about: the same message again."""
    _answered(question, now)
    asked_about = question.related
    if str(said.reason) != _NOT_FOUND or asked_about is None:
        return
    matching.conversation(asked_about)
    _hand_over_again(asked_about, now)


def _hand_over_again(order: Message, now: datetime) -> None:
    # Whoever handed it over may have died before he wrote that down.
    unknown = (MessageStatus.TO_SEND, MessageStatus.SENT, MessageStatus.SILENT)
    Message.objects.filter(pk=order.pk, status__in=unknown).update(
        status=MessageStatus.TO_SEND, attempts=0, next_attempt_at=now, leased_until=None
    )


def _contradiction(heard: _Heard, *, settled_on: date | None = None) -> Fault:
    detail = f"{heard.said.status} while it is {heard.conversation.status}"
    about = heard.conversation.pk
    return Fault(_CONTRADICTS, detail, conversation_id=about, settled_on=settled_on)


def _nothing(heard: _Heard) -> None:
    """It is on its way."""


_PAYMENT: Mapping[Meaning, Callable[[_Heard], None]] = MappingProxyType(
    {
        Meaning.SETTLED: _payment_settled,
        Meaning.UNPOSTED: _payment_unposted,
        Meaning.REJECTED: _payment_rejected,
        Meaning.NOTHING: _nothing,
    }
)


# --- Of our requests


def _of_request(heard: _Heard, meaning: Meaning) -> None:
    """The network does not deliver a request for payment."""
    if meaning != Meaning.REJECTED or heard.code == _KNOWN_BEFORE:
        return
    if heard.conversation.status not in {S.SENT, S.ACCEPTED}:
        raise Fault("too_late")
    settling.rejected(
        heard.conversation, code=heard.code, reason=heard.said.reason.text, now=heard.now
    )


# --- Of money to us


def _credit_settled(heard: _Heard) -> None:
    if heard.conversation.status == S.REJECTED:
        raise _contradiction(heard)
    if heard.conversation.status == S.ANSWERING:
        settling.advised(heard.rail, heard.conversation, day=heard.day, now=heard.now)


def _credit_failed(heard: _Heard) -> None:
    if heard.conversation.status == S.ANSWERING:
        settling.failed(
            heard.conversation, code=heard.code, reason=heard.said.reason.text, now=heard.now
        )
    elif heard.conversation.status == S.FINAL:
        raise _contradiction(heard)


_ADVICE: Mapping[Meaning, Callable[[_Heard], None]] = MappingProxyType(
    {
        Meaning.SETTLED: _credit_settled,
        Meaning.UNPOSTED: _nothing,
        Meaning.REJECTED: _credit_failed,
        Meaning.NOTHING: _nothing,
    }
)
