"""One of each message, as both networks have it, and who sends it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from networks.instant.iso import ids
from networks.instant.iso.layouts import fednow, rtp
from networks.instant.iso.messages import (
    Account,
    CreditTransfer,
    Header,
    Message,
    PaymentReturn,
    Reason,
    Rejection,
    RequestAnswer,
    RequestForPayment,
    Resolution,
    ReturnRequest,
    StatusReport,
    StatusRequest,
)
from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP, Profile
from networks.instant.iso.reader import read
from networks.instant.iso.writer import header_of, write

NOW = datetime(2026, 11, 29, 2, tzinfo=UTC)  # the evening before, Eastern time
TODAY = date(2026, 11, 28)
UETR = "8a562c67-ca16-48ba-b074-65581be6f011"
TRANSFER = "pacs.008.001.08"
OURS = Account(routing_number="123456780", account_number="40001", name="Ballast for Acme Inc")
THEIRS = Account(routing_number="021000021", account_number="US99-887", name="Bob's Bits & Co")
KINDS = {
    "rtp": [layout.message.kind for layout in rtp.LAYOUTS],
    "fednow": [layout.message.kind for layout in fednow.LAYOUTS],
}
EVERY = [(profile, kind) for profile in PROFILES for kind in KINDS[profile]]


def participant(profile: Profile) -> str:
    return "123456780T1" if profile is RTP else "123456780"


def message_id(profile: Profile, number: int = 1) -> str:
    return ids.message_id(profile, participant=participant(profile), day=TODAY, number=number)


def header(message: Message, profile: Profile) -> Header:
    """From us; a rejection is the network's."""
    if isinstance(message, Rejection):
        return Header(
            message_id="B-REJECTION",
            business_id="B-REJECTION",
            sender=profile.operator,
            receiver=participant(profile),
            created_at=NOW,
        )
    sender, receiver = participant(profile), profile.operator
    return header_of(message, sender=sender, receiver=receiver, profile=profile)


def written(message: Message, profile: Profile) -> bytes:
    return write(message, header(message, profile), profile)


def came(content: bytes, profile: Profile) -> Any:
    """What is read, of whatever kind."""
    return read(content, profile).message


def message(kind: str, profile: Profile) -> Any:
    """The message with everything in it that the network has."""
    return _MADE[kind](profile)


def _request(profile: Profile) -> RequestForPayment:
    return RequestForPayment(
        message_id=message_id(profile),
        created_at=NOW,
        instruction_id="I-1",
        end_to_end_id="I-1",
        amount=12_345,
        debtor=THEIRS,
        creditor=OURS,
        execute_at=NOW,
        expires_at=NOW + timedelta(days=3),
        remittance="Top-up 17",
    )


def _answer(profile: Profile) -> RequestAnswer:
    answer = RequestAnswer(
        message_id=message_id(profile),
        created_at=NOW,
        original_message_id="M-1",
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="I-1",
        status="RJCT",
        reason=Reason(code="CUST", text="Not today"),
        creditor_routing_number=OURS.routing_number,
        creditor_name=OURS.name,
    )
    if profile is FEDNOW:
        return replace(answer, debtor_routing_number=THEIRS.routing_number)
    return replace(answer, execute_at=NOW)


def _transfer(profile: Profile) -> CreditTransfer:
    transfer = CreditTransfer(
        message_id=message_id(profile),
        created_at=NOW,
        instruction_id="I-1",
        end_to_end_id="E-1",
        amount=1_000_000_000,
        settlement_date=TODAY,
        debtor=OURS,
        creditor=THEIRS,
        remittance="Invoice 5",
    )
    if profile is FEDNOW:
        return replace(transfer, uetr=UETR)
    return replace(transfer, transaction_id="I-1", returns_of="E-0")


def _report(profile: Profile) -> StatusReport:
    report = StatusReport(
        message_id=message_id(profile),
        created_at=NOW,
        original_message_id="M-1",
        original_message_name=TRANSFER,
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="E-1",
        status="RJCT",
        reason=Reason(proprietary="1100", text="Ask the bank"),
        accepted_at=NOW,
        settlement_date=TODAY,
    )
    if profile is FEDNOW:
        return replace(report, original_uetr=UETR)
    return replace(report, original_transaction_id="I-1")


def _status_request(profile: Profile) -> StatusRequest:
    return StatusRequest(
        message_id=message_id(profile),
        created_at=NOW,
        original_message_id="M-1",
        original_message_name=TRANSFER,
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="E-1",
        original_uetr=UETR,
    )


def _return(profile: Profile) -> PaymentReturn:
    return PaymentReturn(
        message_id=message_id(profile),
        created_at=NOW,
        original_message_id="M-1",
        original_message_name=TRANSFER,
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="E-1",
        original_uetr=UETR,
        original_amount=500,
        original_settlement_date=TODAY,
        amount=499,
        settlement_date=TODAY,
        debtor=OURS,
        creditor=THEIRS,
        reason=Reason(code="DUPL", text="Paid before"),
    )


def _return_request(profile: Profile) -> ReturnRequest:
    request = ReturnRequest(
        message_id=message_id(profile),
        created_at=NOW,
        case_id="C-1",
        original_message_id="M-1",
        original_message_name=TRANSFER,
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="E-1",
        amount=500,
        settlement_date=TODAY,
        reason=Reason(code="DUPL"),
    )
    if profile is FEDNOW:
        return replace(request, original_uetr=UETR)
    return replace(request, original_transaction_id="I-1", debtor_name="Ann", creditor_name="Bob")


def _resolution(profile: Profile) -> Resolution:
    resolution = Resolution(
        message_id=message_id(profile),
        created_at=NOW,
        status="IPAY",
        case_id="C-1",
        reason=Reason(code="NARR", text="By agreement"),
        amount=500,
        settlement_date=TODAY,
    )
    if profile is RTP:
        return replace(resolution, request_message_id="M-2", request_created_at=NOW)
    return replace(
        resolution,
        original_message_id="M-1",
        original_message_name=TRANSFER,
        original_created_at=NOW,
        original_instruction_id="I-1",
        original_end_to_end_id="E-1",
        original_uetr=UETR,
    )


def _rejection(_profile: Profile) -> Rejection:
    return Rejection(reference="M-1", code="690", text="Unknown participant", rejected_at=NOW)


_MADE: Mapping[str, Callable[[Profile], Message]] = {
    "pain.013": _request,
    "pain.014": _answer,
    "pacs.008": _transfer,
    "pacs.002": _report,
    "pacs.028": _status_request,
    "pacs.004": _return,
    "camt.056": _return_request,
    "camt.029": _resolution,
    "admi.002": _rejection,
}
