"""What payers' banks say to our requests for payment (pain.014). Every answer is kept; none is
money."""

from __future__ import annotations

from datetime import datetime

from networks.instant import settling
from networks.instant.iso.messages import RequestAnswer, RequestForPayment
from networks.instant.models import Message
from networks.instant.rails import RailInForce
from networks.instant.receiving import matching
from networks.instant.receiving.faults import Fault
from networks.instant.states import ConversationStatus

S = ConversationStatus
_NOTED = frozenset({"RCVD", "PRES"})  # received, presented to the payer
_ACCEPTED, _REJECTED = "ACTC", "RJCT"
_OVER = frozenset({S.REJECTED, S.EXPIRED, S.WITHDRAWN, S.RETURNED})


def apply(rail: RailInForce, row: Message, said: RequestAnswer, now: datetime) -> None:
    """Raises Fault."""
    about = matching.ours(rail, said.original_message_id)
    if about is None or about.name != RequestForPayment.kind:
        raise matching.nothing(rail, said.original_message_id)
    row.related, row.conversation_id = about, about.conversation_id
    asked = matching.conversation(about, end_to_end_id=said.original_end_to_end_id)
    if said.status in _NOTED:
        return
    if said.status not in {_ACCEPTED, _REJECTED}:
        raise Fault("status_unknown", said.status)
    if asked.status in _OVER:
        raise Fault("too_late")
    if said.status == _ACCEPTED:
        if asked.status == S.SENT:
            settling.accepted(asked, now=now)
        return
    if asked.status in {S.PAYING, S.FINAL}:
        raise Fault("contradicts", "RJCT after it was paid", conversation_id=asked.pk)
    code, reason = str(said.reason)[:16], said.reason.text
    settling.rejected(asked, code=code, reason=reason, now=now)
