"""Money is an integer number of cents everywhere; only people see dollars."""

from __future__ import annotations

import re

CURRENCY = "USD"

# Every stored amount and balance stays far below the limit of a bigint, so no sum can overflow.
AMOUNT_MAX = 10**15

_DOLLARS = re.compile(r"\$?([0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,15})(?:\.([0-9]{2}))?")


def format_cents(cents: int) -> str:
    """`123456` → `$1,234.56`, `-5` → `-$0.05`."""
    sign = "-" if cents < 0 else ""
    dollars, rest = divmod(abs(cents), 100)
    return f"{sign}${dollars:,}.{rest:02d}"


def signed_cents(cents: int) -> str:
    """A change of a balance: `500` → `+$5.00`, `-5` → `-$0.05`, `0` → `$0.00`."""
    return f"+{format_cents(cents)}" if cents > 0 else format_cents(cents)


def parse_dollars(text: str) -> int | None:
    """The cents of an amount as people type it: `1,234.56`, `$1234.56`, `1234`; None for any other
    text."""
    match = _DOLLARS.fullmatch(text.strip())
    if match is None:
        return None
    return int(match[1].replace(",", "")) * 100 + int(match[2] or 0)
