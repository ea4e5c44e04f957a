"""Amounts of elements, and what makes an element unusable."""

from __future__ import annotations

from typing import NamedTuple

from networks.bank_statements.amounts import BadAmount, decimal
from networks.bank_statements.camt.facts import CURRENCY_OF, Facts

_SIGNS = {"CRDT": 1, "DBIT": -1}


class Unreadable(Exception):
    """An entry, a balance or a heading that cannot be used. `code` names the fault."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Money(NamedTuple):
    cents: int
    currency: str


def money(facts: Facts, way: str) -> Money:
    """The amount at the end of the way, without a sign. Raises Unreadable."""
    try:
        return Money(decimal(facts.text(way)), facts.text(way + CURRENCY_OF))
    except BadAmount as bad:
        raise Unreadable(bad.code) from None


def sign(facts: Facts) -> int:
    """1 for a credit, -1 for a debit. Raises Unreadable."""
    found = _SIGNS.get(facts.text("CdtDbtInd"))
    if found is None:
        raise Unreadable("direction_invalid")
    return found


def signed(facts: Facts) -> Money:
    """The amount of an entry or a balance, negative for a debit. Raises Unreadable."""
    found = money(facts, "Amt")
    return Money(sign(facts) * found.cents, found.currency)
