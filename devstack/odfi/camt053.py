"""Writes a statement as ISO 20022 camt.053.001.08."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from devstack.odfi import bai2, calendar
from devstack.odfi.terms import Terms

if TYPE_CHECKING:
    from devstack.odfi.statements import Posting, Statement

NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
# Family and sub-family of the domain "payments", by kind and whether it is a credit.
FAMILIES = MappingProxyType(
    {
        ("settlement", True): ("IDDT", "PMDD"),
        ("settlement", False): ("ICDT", "DMCT"),
        ("offset", True): ("RCDT", "DMCT"),
        ("offset", False): ("RDDT", "PMDD"),
        ("return", True): ("ICDT", "RRTN"),
        ("return", False): ("IDDT", "UPDD"),
        ("credit", True): ("RCDT", "DMCT"),
        ("fee", False): ("MDOP", "CHRG"),
    }
)


def write(statement: Statement, terms: Terms, *, at: datetime) -> bytes:
    root = ElementTree.Element("Document", xmlns=NAMESPACE)
    message = _add(root, "BkToCstmrStmt")
    header = _add(message, "GrpHdr")
    number = f"{statement.day:%Y%m%d}-{statement.number}"
    _add(header, "MsgId", f"M{number}")
    _add(header, "CreDtTm", _instant(at))
    body = _add(message, "Stmt")
    _add(body, "Id", f"S{number}")
    _add(body, "ElctrncSeqNb", str(statement.number))
    _add(body, "CreDtTm", _instant(at))
    _account(body, terms)
    _balance(body, "OPBD", statement.opening, statement)
    _balance(body, "CLBD", statement.closing, statement)
    _balance(body, "CLAV", statement.closing, statement)
    _summary(body, statement)
    for posting in statement.postings:
        _entry(body, posting, terms)
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _account(body: ElementTree.Element, terms: Terms) -> None:
    account = _add(body, "Acct")
    _add(_add(_add(account, "Id"), "Othr"), "Id", terms.settlement_account)
    _add(account, "Ccy", "USD")
    _add(_add(account, "Ownr"), "Nm", terms.customer_name)
    servicer = _add(_add(account, "Svcr"), "FinInstnId")
    member = _add(servicer, "ClrSysMmbId")
    _add(_add(member, "ClrSysId"), "Cd", "USABA")
    _add(member, "MmbId", terms.routing)
    _add(servicer, "Nm", terms.bank_name)


def _balance(body: ElementTree.Element, code: str, amount: int, statement: Statement) -> None:
    balance = _add(body, "Bal")
    _add(_add(_add(balance, "Tp"), "CdOrPrtry"), "Cd", code)
    _amount(balance, amount)
    _add(_add(balance, "Dt"), "Dt", statement.day.isoformat())


def _summary(body: ElementTree.Element, statement: Statement) -> None:
    summary = _add(body, "TxsSummry")
    for name, sign in (("TtlCdtNtries", 1), ("TtlDbtNtries", -1)):
        total, count = statement.total(sign)
        part = _add(summary, name)
        _add(part, "NbOfNtries", str(count))
        _add(part, "Sum", _decimal(total))


def _entry(body: ElementTree.Element, posting: Posting, terms: Terms) -> None:
    entry = _add(body, "Ntry")
    _add(entry, "NtryRef", str(posting.number))
    _amount(entry, posting.amount)
    _add(_add(entry, "Sts"), "Cd", "BOOK")
    day = calendar.day_of(posting.at).isoformat()
    _add(_add(entry, "BookgDt"), "Dt", day)
    _add(_add(entry, "ValDt"), "Dt", day)
    _add(entry, "AcctSvcrRef", str(posting.number))
    _kind(entry, posting, terms)
    details = _add(_add(entry, "NtryDtls"), "TxDtls")
    _references(_add(details, "Refs"), posting)
    if posting.return_code:
        reason = _add(_add(details, "RtrInf"), "Rsn")
        _add(reason, "Prtry", posting.return_code)
    _add(details, "AddtlTxInf", posting.text)


def _references(references: ElementTree.Element, posting: Posting) -> None:
    """A sum names the customer's file and the batch in it, another line its one transfer."""
    if posting.kind not in {"settlement", "offset"} or not posting.reference:
        _add(references, "EndToEndId", posting.reference or "NOTPROVIDED")
        return
    file, _, batch = posting.reference.partition("-")
    _add(references, "MsgId", file)
    if batch:
        _add(references, "PmtInfId", posting.reference)


def _kind(entry: ElementTree.Element, posting: Posting, terms: Terms) -> None:
    key = posting.kind, posting.amount > 0
    family, sub_family = FAMILIES[key]
    code = _add(entry, "BkTxCd")
    domain = _add(code, "Domn")
    _add(domain, "Cd", "PMNT")
    part = _add(domain, "Fmly")
    _add(part, "Cd", family)
    _add(part, "SubFmlyCd", sub_family)
    own = _add(code, "Prtry")
    _add(own, "Cd", bai2.TYPE_CODES[key])
    _add(own, "Issr", "BAI")


def _amount(parent: ElementTree.Element, cents: int) -> None:
    _add(parent, "Amt", _decimal(abs(cents))).set("Ccy", "USD")
    _add(parent, "CdtDbtInd", "CRDT" if cents >= 0 else "DBIT")


def _decimal(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02}"


def _instant(at: datetime) -> str:
    return calendar.local(at).isoformat(timespec="seconds")


def _add(parent: ElementTree.Element, name: str, text: str | None = None) -> ElementTree.Element:
    child = ElementTree.SubElement(parent, name)
    child.text = text
    return child
