"""Writes what moved on a position: camt.052 (report), camt.053 (statement), camt.054 (notice)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType

from devstack.instant import xml
from devstack.instant.profiles import EASTERN, ISO, Profile
from devstack.instant.terms import Terms
from devstack.instant.xml import Amount, Fields

# The element of the message, of what it is of, and of its sequence number.
_MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "camt052": ("BkToCstmrAcctRpt", "Rpt"),
        "camt053": ("BkToCstmrStmt", "Stmt"),
        "camt054": ("BkToCstmrDbtCdtNtfctn", "Ntfctn"),
    }
)
_VERSION = "001.08"


@dataclass(frozen=True)
class Entry:
    """A line. `amount` is negative where money left the position."""

    number: int
    at: datetime
    amount: int
    message_id: str
    instruction_id: str
    end_to_end_id: str
    party: str
    is_return: bool
    text: str = ""


@dataclass(frozen=True)
class Day:
    """A cycle day of the participant: what it began and ended with, in cents, and its lines."""

    day: date
    number: int
    opening: int
    closing: int
    entries: tuple[Entry, ...]


def write(name: str, of: Day, profile: Profile, terms: Terms, *, at: datetime) -> bytes:
    """One of the three messages of a cycle day."""
    message, part = _MESSAGES[name]
    serial = f"{profile.name.upper()}{of.day:%Y%m%d}-{of.number}"
    header: Fields = [("MsgId", f"{name[4:]}{serial}"), ("CreDtTm", _moment(at))]
    body: Fields = [
        ("Id", serial),
        ("ElctrncSeqNb", str(of.number)),
        ("CreDtTm", _moment(at)),
        ("Acct", _account(profile, terms)),
        *([] if name == "camt054" else _balances(of)),
        ("TxsSummry", [("TtlCdtNtries", _total(of, 1)), ("TtlDbtNtries", _total(of, -1))]),
        *(("Ntry", _entry(each, of)) for each in of.entries),
    ]
    namespace = f"{ISO}{name[:4]}.{name[4:]}.{_VERSION}"
    document = xml.write(
        "Document",
        [(message, [("GrpHdr", header), (part, body)])],
        attributes=xml.attribute("xmlns", namespace),
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'.encode()


def _account(profile: Profile, terms: Terms) -> Fields:
    member: Fields = [("ClrSysId", [("Cd", "USABA")]), ("MmbId", terms.routing)]
    servicer: Fields = [("ClrSysMmbId", member), ("Nm", terms.participant_name)]
    return [
        ("Id", [("Othr", [("Id", terms.account(profile.name))])]),
        ("Ccy", "USD"),
        ("Ownr", [("Nm", terms.customer_name)]),
        ("Svcr", [("FinInstnId", servicer)]),
    ]


def _balances(of: Day) -> Fields:
    kinds = (("OPBD", of.opening), ("CLBD", of.closing), ("CLAV", of.closing))
    return [
        (
            "Bal",
            [
                ("Tp", [("CdOrPrtry", [("Cd", code)])]),
                *_signed(cents),
                ("Dt", [("Dt", of.day.isoformat())]),
            ],
        )
        for code, cents in kinds
    ]


def _total(of: Day, sign: int) -> Fields:
    amounts = [abs(each.amount) for each in of.entries if each.amount * sign > 0]
    total = sum(amounts)
    return [("NbOfNtries", str(len(amounts))), ("Sum", f"{total // 100}.{total % 100:02}")]


def _entry(entry: Entry, of: Day) -> Fields:
    is_credit = entry.amount > 0
    references: Fields = [
        ("MsgId", entry.message_id),
        ("AcctSvcrRef", str(entry.number)),
        ("InstrId", entry.instruction_id),
        ("EndToEndId", entry.end_to_end_id),
    ]
    role = "Dbtr" if is_credit else "Cdtr"
    details: Fields = [
        ("Refs", references),
        *_signed(entry.amount),
        ("RltdPties", [(role, [("Pty", [("Nm", entry.party)])])]),
        ("AddtlTxInf", entry.text),
    ]
    day: Fields = [("Dt", of.day.isoformat())]
    return [
        ("NtryRef", str(entry.number)),
        *_signed(entry.amount),
        ("Sts", [("Cd", "BOOK")]),
        ("BookgDt", day),
        ("ValDt", day),
        ("AcctSvcrRef", str(entry.number)),
        ("BkTxCd", [("Domn", _code(entry))]),
        ("NtryDtls", [("TxDtls", details)]),
    ]


def _code(entry: Entry) -> Fields:
    """Instant credit transfers, received and issued; returns have a code of their own."""
    family = "RRCT" if entry.amount > 0 else "IRCT"
    sub_family = "RRTN" if entry.is_return else "DMCT"
    return [("Cd", "PMNT"), ("Fmly", [("Cd", family), ("SubFmlyCd", sub_family)])]


def _signed(cents: int) -> Fields:
    return [("Amt", Amount(abs(cents))), ("CdtDbtInd", "CRDT" if cents >= 0 else "DBIT")]


def _moment(at: datetime) -> str:
    return at.astimezone(EASTERN).isoformat(timespec="seconds")
