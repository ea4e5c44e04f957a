"""Amounts as the formats write them, in cents. US dollars have two decimals."""

from __future__ import annotations

import re

CURRENCY = "USD"
SUM_MAX = (1 << 63) - 1  # cents; what a database keeps in eight bytes
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
_WITH_POINT = re.compile(r"[+-]?[0-9]*[.][0-9]*", re.ASCII)
_DECIMAL = re.compile(r"[+]?([0-9]{1,13})(?:[.]([0-9]{1,2}))?", re.ASCII)
_MORE_DECIMALS = re.compile(r"[+-]?[0-9]*[.][0-9]{3,}", re.ASCII)


class BadAmount(ValueError):
    """Text that is no amount. `code` names the fault."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def implied(text: str) -> int:
    """An amount of BAI2, whose last two digits are cents. Raises BadAmount."""
    if _WHOLE.fullmatch(text):
        return int(text)
    if not text:
        raise BadAmount("amount_missing")
    raise BadAmount("amount_decimals" if _WITH_POINT.fullmatch(text) else "amount_invalid")


def decimal(text: str) -> int:
    """An amount of camt, without a sign. Raises BadAmount."""
    if found := _DECIMAL.fullmatch(text):
        return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))
    if not text:
        raise BadAmount("amount_missing")
    raise BadAmount("amount_decimals" if _MORE_DECIMALS.fullmatch(text) else "amount_invalid")
