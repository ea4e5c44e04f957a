"""What participants say, out of the bodies of their messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from devstack.instant.envelope import Message
from devstack.instant.profiles import EASTERN, BadMoment, Profile
from devstack.instant.xml import Element

ID_LENGTH_MAX = 35
ACCOUNT_LENGTH_MAX = 34
_AMOUNT = re.compile(r"\d{1,12}(\.\d{1,2})?")
_ROUTING = re.compile(r"\d{9}")
_MEMBER = "FinInstnId/ClrSysMmbId/MmbId"
T = TypeVar("T")


class Faulty(ValueError):
    """A message whose fields cannot be. `code` is the reason in a status report."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True)
class Account:
    """An account at a bank, and whose it is."""

    routing: str
    number: str = field(repr=False)
    name: str


@dataclass(frozen=True)
class Payment:
    """pacs.008: a credit transfer."""

    message_id: str
    created_at: datetime
    instruction_id: str
    end_to_end_id: str
    transaction_id: str
    amount: int
    debtor: Account
    creditor: Account
    remittance: str
    gives_back: str
    """The end-to-end id of the payment that this one returns (RTP); empty for others."""


@dataclass(frozen=True)
class Request:
    """pain.013: a request for payment. `expires_at` is in UTC."""

    message_id: str
    created_at: datetime
    payment_information_id: str
    instruction_id: str
    end_to_end_id: str
    amount: int
    expires_at: datetime
    requested_day: str
    debtor: Account
    creditor: Account
    remittance: str


@dataclass(frozen=True)
class Status:
    """pacs.002: what a participant answers to a payment."""

    message_id: str
    original_message_id: str
    status: str
    reason: str


@dataclass(frozen=True)
class Question:
    """pacs.028: what became of a message?"""

    message_id: str
    created_at: datetime
    original_message_id: str
    original_name: str
    instruction_id: str
    end_to_end_id: str


@dataclass(frozen=True)
class Return:
    """pacs.004: money given back."""

    message_id: str
    created_at: datetime
    original_message_id: str
    end_to_end_id: str
    amount: int
    reason: str


@dataclass(frozen=True)
class Resolution:
    """camt.029: the answer to a request to return money."""

    message_id: str
    case_id: str
    original_message_id: str
    status: str
    reason: str


def payment(message: Message, profile: Profile) -> Payment:
    """Raises Faulty, as all of these do."""
    head, body = _part(message, "GrpHdr"), _part(message, "CdtTrfTxInf")
    amount = _amount(body, "IntrBkSttlmAmt")
    if profile.is_rtp and _amount(head, "TtlIntrBkSttlmAmt") != amount:
        raise Faulty("AM10", "TtlIntrBkSttlmAmt is not the amount of the payment")
    if head.value("NbOfTxs") != "1":
        raise Faulty("FF02", "NbOfTxs is not 1")
    return Payment(
        message_id=_id(head, "MsgId", "FF02"),
        created_at=_moment(head, "CreDtTm", profile),
        instruction_id=_id(body, "PmtId/InstrId", "FF02"),
        end_to_end_id=_id(body, "PmtId/EndToEndId", "FF08"),
        transaction_id=_id(body, "PmtId/TxId", "FF02") if profile.is_rtp else "",
        amount=amount,
        debtor=_account(body, "Dbtr"),
        creditor=_account(body, "Cdtr"),
        remittance=body.value("RmtInf/Ustrd"),
        gives_back=body.value("RmtInf/Strd/RfrdDocInf/Nb"),
    )


def request(message: Message, profile: Profile) -> Request:
    head, information = _part(message, "GrpHdr"), _part(message, "PmtInf")
    body = information.find("CdtTrfTx")
    if body is None:
        raise Faulty("FF02", "CdtTrfTx is missing")
    expires = information.value("XpryDt/DtTm")
    return Request(
        message_id=_id(head, "MsgId", "FF02"),
        created_at=_moment(head, "CreDtTm", profile),
        payment_information_id=_id(information, "PmtInfId", "FF02"),
        instruction_id=body.value("PmtId/InstrId"),
        end_to_end_id=_id(body, "PmtId/EndToEndId", "FF08"),
        amount=_amount(body, "Amt/InstdAmt"),
        expires_at=_moment(information, "XpryDt/DtTm", profile)
        if expires
        else _end_of(information.value("XpryDt/Dt"), profile),
        requested_day=information.value("ReqdExctnDt/Dt")
        or information.value("ReqdExctnDt/DtTm")[:10],
        debtor=_account(information, "Dbtr"),
        creditor=_account(body, "Cdtr"),
        remittance=body.value("RmtInf/Ustrd"),
    )


def status(message: Message, _profile: Profile) -> Status:
    head, body = _part(message, "GrpHdr"), _part(message, "TxInfAndSts")
    group = message.body.find("OrgnlGrpInfAndSts") or body.find("OrgnlGrpInf") or body
    return Status(
        message_id=_id(head, "MsgId", "FF02"),
        original_message_id=_id(group, "OrgnlMsgId", "FF02"),
        status=_id(body, "TxSts", "FF02"),
        reason=body.value("StsRsnInf/Rsn/Cd") or body.value("StsRsnInf/Rsn/Prtry"),
    )


def question(message: Message, profile: Profile) -> Question:
    head, body = _part(message, "GrpHdr"), _part(message, "TxInf")
    group = body.find("OrgnlGrpInf") or message.body.find("OrgnlGrpInf") or body
    return Question(
        message_id=_id(head, "MsgId", "FF02"),
        created_at=_moment(head, "CreDtTm", profile),
        original_message_id=_id(group, "OrgnlMsgId", "FF02"),
        original_name=group.value("OrgnlMsgNmId"),
        instruction_id=body.value("OrgnlInstrId"),
        end_to_end_id=body.value("OrgnlEndToEndId"),
    )


def payment_return(message: Message, profile: Profile) -> Return:
    head, body = _part(message, "GrpHdr"), _part(message, "TxInf")
    group = body.find("OrgnlGrpInf") or message.body.find("OrgnlGrpInf") or body
    return Return(
        message_id=_id(head, "MsgId", "FF02"),
        created_at=_moment(head, "CreDtTm", profile),
        original_message_id=_id(group, "OrgnlMsgId", "FF02"),
        end_to_end_id=body.value("OrgnlEndToEndId"),
        amount=_amount(body, "RtrdIntrBkSttlmAmt"),
        reason=body.value("RtrRsnInf/Rsn/Cd"),
    )


def resolution(message: Message, _profile: Profile) -> Resolution:
    assignment = _part(message, "Assgnmt")
    details = message.body.find("CxlDtls/OrgnlGrpInfAndSts")
    case = message.body.value("RslvdCase/Id")
    transaction = message.body.find("CxlDtls/TxInfAndSts")
    return Resolution(
        message_id=_id(assignment, "Id", "FF02"),
        case_id=case or (details.value("RslvdCase/Id") if details is not None else ""),
        original_message_id=details.value("OrgnlMsgId") if details is not None else "",
        status=_id(_part(message, "Sts"), "Conf", "FF02"),
        reason=transaction.value("CxlStsRsnInf/Rsn/Cd") if transaction is not None else "",
    )


def message_id(message: Message) -> str:
    """Of any message, faulty ones included; the header's id where it has none."""
    path = next((each for each in ("GrpHdr/MsgId", "Assgnmt/Id") if message.body.value(each)), "")
    return message.body.value(path) if path else message.header.business_id


def created_at(message: Message, profile: Profile) -> datetime:
    """When the message says it was made; else when its header says so."""
    text = message.body.value("GrpHdr/CreDtTm") or message.body.value("Assgnmt/CreDtTm")
    return _or(lambda: profile.read(text), message.header.created_at)


def _or(work: Callable[[], T], otherwise: T) -> T:
    try:
        return work()
    except BadMoment:
        return otherwise


def _part(message: Message, name: str) -> Element:
    found = message.body.find(name)
    if found is None:
        raise Faulty("FF02", f"{name} is missing")
    return found


def _id(element: Element, path: str, code: str) -> str:
    value = element.value(path)
    if not value or len(value) > ID_LENGTH_MAX:
        raise Faulty(code, f"{path} has 1 to {ID_LENGTH_MAX} characters, not {len(value)}")
    return value


def _moment(element: Element, path: str, profile: Profile) -> datetime:
    try:
        return profile.read(element.value(path))
    except BadMoment as problem:
        raise Faulty("FF02", f"{path}: {problem}") from None


def _end_of(day: str, profile: Profile) -> datetime:
    """The last second of a calendar day, Eastern."""
    try:
        moment = datetime.fromisoformat(f"{day}T23:59:59").replace(tzinfo=EASTERN)
    except ValueError:
        raise Faulty("FF02", f"XpryDt {day!r} is no date of {profile.title}") from None
    return moment


def _amount(element: Element, path: str) -> int:
    found = element.find(path)
    text = found.text.strip() if found is not None else ""
    if found is not None and found.attributes.get("Ccy") != "USD":
        raise Faulty("AC11", f"{path} is not in USD")
    if not _AMOUNT.fullmatch(text):
        raise Faulty("AM12", f"{path} {text!r} is no amount with at most two decimals")
    whole, _, part = text.partition(".")
    cents = int(whole) * 100 + int(part.ljust(2, "0") or "0")
    if cents == 0:
        raise Faulty("AM12", f"{path} is zero")
    return cents


def _account(element: Element, party: str) -> Account:
    """The account of a party (`Dbtr`, `Cdtr`), its bank and its name."""
    routing = element.value(f"{party}Agt/{_MEMBER}")
    number = element.value(f"{party}Acct/Id/Othr/Id")
    name = element.value(f"{party}/Nm")
    if not _ROUTING.fullmatch(routing):
        raise Faulty("RC01", f"{party}Agt {routing!r} is no routing number")
    if not number or len(number) > ACCOUNT_LENGTH_MAX:
        raise Faulty("AC02" if party == "Dbtr" else "AC03", f"{party}Acct is no account number")
    if not name:
        raise Faulty("FF02", f"{party} has no name")
    return Account(routing, number, name)
