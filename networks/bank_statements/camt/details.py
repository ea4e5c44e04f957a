"""The payments in an entry (TxDtls): their amounts, references and parties."""

from __future__ import annotations

from networks.bank_statements.camt.amounts import Unreadable, money, sign
from networks.bank_statements.camt.facts import Facts
from networks.bank_statements.items import CODE_LENGTH_MAX, REFERENCE_LENGTH_MAX, Detail, References

_NOTHING = frozenset(("NOTPROVIDED", "NONREF"))  # what stands for a reference that there is not
_AMOUNTS = ("Amt", "AmtDtls/TxAmt/Amt")


def read(facts: Facts, *, entry_sign: int, currency: str) -> Detail:
    """A payment. Its amount is None where the bank gives none in `currency`. Raises Unreadable."""
    direction = sign(facts) if facts.text("CdtDbtInd") else entry_sign
    found = next((money(facts, way) for way in _AMOUNTS if facts.text(way)), None)
    is_ours = found is not None and found.currency == currency
    return Detail(
        amount=direction * found.cents if found and is_ours else None,
        references=_references(facts),
        party=_party(facts, "Dbtr" if direction > 0 else "Cdtr"),
        text=" ".join(filter(None, (facts.text("RmtInf/Ustrd"), facts.text("AddtlTxInf")))),
        return_code=short(facts.code("RtrInf/Rsn")),
    )


def short(code: str) -> str:
    """The code. Raises Unreadable for one that is longer than any."""
    if len(code) > CODE_LENGTH_MAX:
        raise Unreadable("code_long")
    return code


def reference(facts: Facts, *ways: str) -> str:
    """The first of the references that is there; empty where none is. Raises Unreadable."""
    for way in ways:
        text = facts.text(way)
        if len(text) > REFERENCE_LENGTH_MAX:
            raise Unreadable("reference_long")
        if text and text not in _NOTHING:
            return text
    return ""


def _references(facts: Facts) -> References:
    return References(
        bank=reference(facts, "Refs/AcctSvcrRef"),
        file=reference(facts, "Refs/MsgId"),
        batch=reference(facts, "Refs/PmtInfId"),
        instruction=reference(facts, "Refs/InstrId"),
        end_to_end=reference(facts, "Refs/EndToEndId"),
        transaction=reference(facts, "Refs/TxId", "Refs/UETR"),
        trace=reference(facts, "Refs/ClrSysRef"),
    )


def _party(facts: Facts, role: str) -> str:
    """The name of the other side, which newer versions put one level deeper."""
    return facts.first(f"RltdPties/{role}/Pty/Nm", f"RltdPties/{role}/Nm")
