"""What two people decide where another bank asks for the return of funds (camt.056).

The first says what the answer is to be, the second agrees: then it is sent (camt.029), and the
money with it if it is given back. The caller writes the audit log.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common import crypto, ids
from common.errors import StaffRefusal
from networks.instant import directory, messages, ordering, position, rails, writing
from networks.instant.iso import reader
from networks.instant.iso.messages import Reason
from networks.instant.iso.messages import ReturnRequest as AskedBack
from networks.instant.iso.profiles import Returns
from networks.instant.models import Conversation, ReturnAsk
from networks.instant.rails import RailInForce
from networks.instant.settling import locked
from networks.instant.states import (
    ASK_STATES,
    AskStatus,
    ConversationKind,
    ConversationStatus,
)

GIVEN, REFUSED = "IPAY", "RJCR"
# Why money is not given back, in codes of ISO 20022 (camt.029).
REASONS = {
    "CUST": "The customer says no",
    "LEGL": "The law says no",
    "NOAS": "The customer does not answer",
    "AC04": "The account is closed",
    "AM04": "The money is not there any more",
    "ARDT": "It was given back before",
}


class AskRefused(StaffRefusal):
    code = "return_ask_refused"
    title = "The answer was not changed"
    advice = "Look at the request again: somebody may have decided about it."


@transaction.atomic
def propose(
    ask_id: str, *, gives_back: bool, reason_code: str = "", why: str, by: str, now: datetime
) -> ReturnAsk:
    """Say what the answer is to be. `reason_code`, one of REASONS, is told to the other bank where
    the money is not given back. Raises AskRefused."""
    ask = _locked(ask_id)
    if not gives_back and reason_code not in REASONS:
        raise AskRefused(f"Choose why: {', '.join(REASONS)}.")
    if not why.strip():
        raise AskRefused("Say why, for your colleague.")
    if ask.status != AskStatus.OPEN:
        raise AskRefused("Somebody has said what the answer is to be.")
    ASK_STATES.advance(
        ask,
        AskStatus.PROPOSED,
        gives_back=gives_back,
        reason_code="" if gives_back else reason_code,
        proposed_by=by,
        proposed_at=now,
        proposed_why=why.strip()[:300],
    )
    return ask


@transaction.atomic
def turn_down(ask_id: str, *, now: datetime, seen: str = "") -> ReturnAsk:
    """Give up what was proposed: a colleague says no, or whoever proposed it takes it back. Raises
    AskRefused."""
    ask = _proposed(ask_id, seen)
    ASK_STATES.advance(
        ask,
        AskStatus.OPEN,
        gives_back=None,
        reason_code="",
        proposed_by="",
        proposed_at=None,
        proposed_why="",
    )
    return ask


@transaction.atomic
def confirm(ask_id: str, *, by: str, now: datetime, seen: str = "") -> ReturnAsk:
    """Agree to what a colleague proposed: the answer is sent, and the money if it is given back.

    `seen` is the proposal (`ReturnAsk.proposal`) that a page showed. Raises AskRefused, and
    rails.NoTerms, InvalidTerms and crypto.Undecryptable.
    """
    ask = _proposed(ask_id, seen)
    if ask.proposed_by == by:
        raise AskRefused("A colleague has to agree.")
    rail = rails.current(ask.rail_id)
    if ask.gives_back:
        _give_back(rail, ask, now)
    _answer(rail, ask, now)
    status = AskStatus.GIVEN_BACK if ask.gives_back else AskStatus.REFUSED
    ASK_STATES.advance(ask, status, decided_by=by, decided_at=now)
    return ask


def _locked(ask_id: str) -> ReturnAsk:
    rows = ReturnAsk.objects.select_for_update(no_key=True, of=("self",))
    ask = rows.select_related("message").filter(pk=ask_id).first()
    if ask is None:
        raise AskRefused("There is no such request.")
    return ask


def _proposed(ask_id: str, seen: str) -> ReturnAsk:
    ask = _locked(ask_id)
    if ask.status != AskStatus.PROPOSED:
        raise AskRefused("Nobody has said yet what the answer is to be, or it was sent.")
    if seen and seen != ask.proposal:
        raise AskRefused("Another answer was proposed meanwhile.")
    return ask


def _give_back(rail: RailInForce, ask: ReturnAsk, now: datetime) -> None:
    """The money of a credit goes back to its sender, once. Raises AskRefused."""
    credit = locked(ask.conversation_id)
    if credit.status != ConversationStatus.FINAL:
        raise AskRefused("The money is not here, or was given back.")
    going = (ConversationStatus.REJECTED, ConversationStatus.RETURNED)
    back = Conversation.objects.filter(original=credit, kind=ConversationKind.GIVE_BACK)
    if back.exclude(status__in=going).exists():
        raise AskRefused("The money is on its way back.")
    listed = directory.look_up(rail.profile, [credit.routing_number], now=now)
    if unreachable := listed.judge(credit.routing_number, ConversationKind.GIVE_BACK):
        raise AskRefused(unreachable.reason)
    waits_for = position.room(rail).take(ask.amount)
    row = _begun(rail, ask, credit, waits_for, now)
    row.save(force_insert=True)
    if not waits_for:
        ordering.order(rail, row, now=now)


def _begun(
    rail: RailInForce, ask: ReturnAsk, credit: Conversation, waits_for: str, now: datetime
) -> Conversation:
    number, new_id = credit.account_number, ids.new("inc")
    is_message = rail.profile.returns == Returns.MESSAGE
    return Conversation(
        id=new_id,
        rail_id=rail.name,
        kind=ConversationKind.GIVE_BACK,
        instruction_id=ask.pk,
        # A return is about the payment that it gives back; a payment has an id of its own.
        end_to_end_id=credit.end_to_end_id if is_message else ask.pk,
        tenant_id=credit.tenant_id,
        amount=ask.amount,
        routing_number=credit.routing_number,
        account_token=crypto.encrypt(number, context=Conversation.context_of(new_id)),
        account_fingerprint=credit.account_fingerprint,
        account_last4=credit.account_last4,
        name=credit.name,
        description=f"Return of {credit.end_to_end_id}",
        original=credit,
        code=ask.code,
        status=ConversationStatus.WAITING if waits_for else ConversationStatus.SENT,
        waits_for=waits_for,
        attempts=0 if waits_for else 1,
        created_at=now,
        sent_at=None if waits_for else now,
    )


def _answer(rail: RailInForce, ask: ReturnAsk, now: datetime) -> None:
    asked = reader.read(ask.message.content, rail.profile).message
    if not isinstance(asked, AskedBack):
        raise TypeError(f"message {ask.message_id} asks for no return of funds")
    messages.write_one(
        rail,
        ask.conversation,
        lambda naming: writing.resolution(
            rail,
            asked,
            naming,
            status=GIVEN if ask.gives_back else REFUSED,
            reason=Reason(code=ask.reason_code),
            now=now,
        ),
        related=ask.message,
        now=now,
    )
