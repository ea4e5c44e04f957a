"""What we say to a network about a conversation, in the words of ISO 20022."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from networks.instant.iso import ids
from networks.instant.iso.messages import (
    NO_REASON,
    Account,
    CreditTransfer,
    PaymentReturn,
    Reason,
    RequestForPayment,
    Resolution,
    StatusReport,
    StatusRequest,
)
from networks.instant.iso.messages import ReturnRequest as AskedBack
from networks.instant.messages import Naming
from networks.instant.models import Conversation
from networks.instant.rails import RailInForce

_REMITTANCE_MAX = 140
ISO_CODE_LENGTH = 4  # a longer one is the asking bank's own


def us(rail: RailInForce) -> Account:
    return Account(
        routing_number=rail.terms.routing_number,
        account_number=rail.account,
        name=rail.terms.creditor_name,
    )


def them(conversation: Conversation, account_number: str) -> Account:
    return Account(
        routing_number=conversation.routing_number,
        account_number=account_number,
        name=conversation.name,
    )


def request(
    rail: RailInForce, asked: Conversation, account_number: str, naming: Naming
) -> RequestForPayment:
    if asked.expires_at is None:
        raise ValueError(f"{asked.pk} never expires")
    return RequestForPayment(
        message_id=naming.message_id,
        created_at=naming.now,
        instruction_id=naming.instruction_id,
        end_to_end_id=asked.end_to_end_id,
        amount=asked.amount,
        debtor=them(asked, account_number),
        creditor=us(rail),
        execute_at=naming.now,
        expires_at=asked.expires_at,
        remittance=asked.description[:_REMITTANCE_MAX],
    )


def payment(
    rail: RailInForce,
    paid: Conversation,
    account_number: str,
    naming: Naming,
    *,
    returns_of: str = "",
) -> CreditTransfer:
    return CreditTransfer(
        message_id=naming.message_id,
        created_at=naming.now,
        instruction_id=naming.instruction_id,
        end_to_end_id=paid.end_to_end_id,
        transaction_id=naming.instruction_id,
        uetr=ids.uetr(paid.pk),  # the same in each message that orders it
        amount=paid.amount,
        settlement_date=rail.profile.settlement_date(naming.now),
        debtor=us(rail),
        creditor=them(paid, account_number),
        remittance=paid.description[:_REMITTANCE_MAX],
        returns_of=returns_of,
    )


def give_back(
    rail: RailInForce, credit: CreditTransfer, amount: int, naming: Naming, *, code: str
) -> PaymentReturn:
    """FedNow's return of a payment that came in."""
    return PaymentReturn(
        message_id=naming.message_id,
        created_at=naming.now,
        original_message_id=credit.message_id,
        original_message_name=rail.profile.full_name(credit.kind),
        original_created_at=credit.created_at,
        original_instruction_id=credit.instruction_id,
        original_end_to_end_id=credit.end_to_end_id,
        original_uetr=credit.uetr,
        original_amount=credit.amount,
        original_settlement_date=credit.settlement_date,
        amount=amount,
        settlement_date=rail.profile.settlement_date(naming.now),
        debtor=us(rail),
        creditor=credit.debtor,
        reason=Reason(code=code) if len(code) <= ISO_CODE_LENGTH else Reason(proprietary=code),
    )


class _Named(NamedTuple):
    """By which ids a payment is known."""

    instruction_id: str
    end_to_end_id: str
    transaction_id: str
    uetr: str


def _named(about: CreditTransfer | PaymentReturn) -> _Named:
    if isinstance(about, CreditTransfer):
        return _Named(about.instruction_id, about.end_to_end_id, about.transaction_id, about.uetr)
    named = (about.original_instruction_id, about.original_end_to_end_id)
    return _Named(*named, "", about.original_uetr)


def report(
    rail: RailInForce,
    about: CreditTransfer | PaymentReturn,
    naming: Naming,
    *,
    status: str,
    reason: Reason = NO_REASON,
) -> StatusReport:
    """Our answer to money that comes in."""
    named = _named(about)
    return StatusReport(
        message_id=naming.message_id,
        created_at=naming.now,
        original_message_id=about.message_id,
        original_message_name=rail.profile.full_name(about.kind),
        original_created_at=about.created_at,
        original_instruction_id=named.instruction_id,
        original_end_to_end_id=named.end_to_end_id,
        original_transaction_id=named.transaction_id,
        original_uetr=named.uetr,
        status=status,
        reason=reason,
        accepted_at=naming.now,
    )


def question(
    rail: RailInForce, about: CreditTransfer | PaymentReturn, naming: Naming
) -> StatusRequest:
    """What became of a payment of ours?"""
    named = _named(about)
    return StatusRequest(
        message_id=naming.message_id,
        created_at=naming.now,
        original_message_id=about.message_id,
        original_message_name=rail.profile.full_name(about.kind),
        original_created_at=about.created_at,
        original_instruction_id=named.instruction_id,
        original_end_to_end_id=named.end_to_end_id,
        original_uetr=named.uetr,
    )


def resolution(
    rail: RailInForce,
    asked: AskedBack,
    naming: Naming,
    *,
    status: str,
    reason: Reason = NO_REASON,
    now: datetime,
) -> Resolution:
    """Our answer to a request for the return of funds."""
    is_given = status == "IPAY"
    return Resolution(
        message_id=naming.message_id,
        created_at=naming.now,
        status=status,
        case_id=asked.case_id,
        request_message_id=asked.message_id,
        request_created_at=asked.created_at,
        original_message_id=asked.original_message_id,
        original_message_name=asked.original_message_name,
        original_created_at=asked.original_created_at,
        original_instruction_id=asked.original_instruction_id,
        original_end_to_end_id=asked.original_end_to_end_id,
        original_uetr=asked.original_uetr,
        reason=reason,
        amount=asked.amount if is_given else None,
        settlement_date=rail.profile.settlement_date(now) if is_given else None,
    )
