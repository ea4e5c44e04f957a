"""Money that comes to us (pacs.008, pacs.004): whose it is, and what we answer.

A transfer pays a request of ours where the end-to-end id, our account and the amount are the
request's, and nothing has paid it before. All else that comes to our account is taken as well, and
a person finds out whose it is. What is for another account is refused. Nothing counts before the
network has said that it settled.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from common import crypto, ids
from networks.instant import accounts, messages, writing
from networks.instant.iso.messages import NO_REASON, Account, CreditTransfer, PaymentReturn, Reason
from networks.instant.models import Conversation, Message
from networks.instant.models.conversations import NAME_LENGTH_MAX
from networks.instant.rails import RailInForce
from networks.instant.receiving import matching
from networks.instant.states import (
    CONVERSATION_STATES,
    OPEN_REQUEST,
    ConversationKind,
    ConversationStatus,
)

S = ConversationStatus
_ACCEPTED, _REFUSED, _NO_SUCH_ACCOUNT = "ACTC", "RJCT", "AC03"
# In words for staff: why money that came to our account is not what somebody asked for.
MISMATCHES = {
    "no_request": "Nobody asked for it",
    "other_amount": "Another amount than was asked for",
    "second_payment": "The request was paid before",
    "after_expiry": "The request had expired",
    "request_over": "The request was refused or withdrawn",
    "no_payment": "It gives back a payment that we did not make, or not so much",
}


class _Found(NamedTuple):
    """What a transfer is for, locked, or why it is for nothing."""

    original: Conversation | None
    mismatch: str = ""


def apply(
    rail: RailInForce, row: Message, said: CreditTransfer | PaymentReturn, now: datetime
) -> None:
    """Raises Fault."""
    if not _is_ours(rail, said.creditor):
        _answer(rail, row, said, _credit(rail, said, _Found(None, ""), S.REJECTED, now), now)
        return
    found = _found(rail, said, now)
    asked = found.original
    if asked is not None and asked.kind == ConversationKind.REQUEST and not found.mismatch:
        CONVERSATION_STATES.advance(asked, S.PAYING)
    credit = _credit(rail, said, found, S.ANSWERING, now)
    _answer(rail, row, said, credit, now)


def _is_ours(rail: RailInForce, creditor: Account) -> bool:
    number = accounts.as_sent(creditor.account_number)
    at_home = creditor.routing_number == rail.terms.routing_number
    return at_home and number == accounts.as_sent(rail.account)


def _found(rail: RailInForce, said: CreditTransfer | PaymentReturn, now: datetime) -> _Found:
    if isinstance(said, PaymentReturn):
        order = matching.ours(rail, said.original_message_id)
        if order is None or order.name != CreditTransfer.kind:
            raise matching.nothing(rail, said.original_message_id)
        paid = matching.conversation(order, end_to_end_id=said.original_end_to_end_id)
        return _payment_given_back(paid, said.amount)
    if said.returns_of:
        first = _locked(rail, ConversationKind.PAYMENT, said.returns_of)
        return _payment_given_back(first, said.amount) if first else _Found(None, "no_payment")
    asked = _locked(rail, ConversationKind.REQUEST, said.end_to_end_id)
    return _Found(asked, _why_not(asked, said, now))


def _locked(rail: RailInForce, kind: ConversationKind, end_to_end_id: str) -> Conversation | None:
    rows = Conversation.objects.select_for_update(no_key=True, of=("self",))
    return rows.filter(rail_id=rail.name, kind=kind, end_to_end_id=end_to_end_id).first()


def _payment_given_back(paid: Conversation, amount: int) -> _Found:
    has_moved = paid.status in {S.SETTLED, S.COMING_BACK, S.FINAL}
    others = paid.followers.exclude(status=S.REJECTED).filter(mismatch="")
    is_whole = amount == paid.amount and not others.exists()
    return _Found(paid, "" if has_moved and is_whole else "no_payment")


def _why_not(asked: Conversation | None, said: CreditTransfer, now: datetime) -> str:
    """Why a transfer does not pay a request, in a word; an empty string where it does."""
    if asked is None:
        return "no_request"
    if asked.status in {S.PAYING, S.FINAL, S.RETURNED}:
        return "second_payment"
    if asked.status == S.EXPIRED:
        return "after_expiry"
    if asked.status not in OPEN_REQUEST:
        return "request_over"
    if asked.amount != said.amount:
        return "other_amount"
    # What the payer's bank sent in time counts, however late it comes to us.
    if asked.expires_at is not None and said.created_at > asked.expires_at:
        return "after_expiry"
    return ""


def _credit(
    rail: RailInForce,
    said: CreditTransfer | PaymentReturn,
    found: _Found,
    status: ConversationStatus,
    now: datetime,
) -> Conversation:
    """Store the conversation of money that comes in."""
    number, new_id = accounts.as_sent(said.debtor.account_number), ids.new("inc")
    pays = found.original if not found.mismatch else None
    if isinstance(said, CreditTransfer):
        end_to_end_id, code, words = said.end_to_end_id, "", said.remittance
    else:
        end_to_end_id, code, words = said.original_end_to_end_id, str(said.reason), ""
    return Conversation.objects.create(
        id=new_id,
        rail_id=rail.name,
        kind=ConversationKind.CREDIT,
        end_to_end_id=end_to_end_id,
        tenant_id=pays.tenant_id if pays else "",
        amount=said.amount,
        routing_number=said.debtor.routing_number,
        account_token=crypto.encrypt(number, context=Conversation.context_of(new_id)),
        account_fingerprint=accounts.fingerprint(number),
        account_last4=number[-4:],
        name=said.debtor.name[:NAME_LENGTH_MAX],
        description=words[:140],
        original=found.original,
        mismatch=found.mismatch,
        reference=said.message_id,
        status=status,
        code=_NO_SUCH_ACCOUNT if status == S.REJECTED else code[:16],
        reason=MISMATCHES.get(found.mismatch, ""),
        settlement_date=said.settlement_date,
        created_at=now,
        ended_at=now if status == S.REJECTED else None,
    )


def _answer(
    rail: RailInForce,
    row: Message,
    said: CreditTransfer | PaymentReturn,
    credit: Conversation,
    now: datetime,
) -> None:
    """Say whether we take it."""
    row.conversation = credit
    is_refused = credit.status == S.REJECTED
    messages.write_one(
        rail,
        credit,
        lambda naming: writing.report(
            rail,
            said,
            naming,
            status=_REFUSED if is_refused else _ACCEPTED,
            reason=Reason(code=_NO_SUCH_ACCOUNT) if is_refused else NO_REASON,
        ),
        related=row,
        now=now,
    )
