"""Money is an integer number of cents everywhere; only people see dollars."""

from __future__ import annotations

CURRENCY = "USD"

# Every stored amount and balance stays far inside a bigint, so no sum can overflow.
AMOUNT_MAX = 10**15


def format_cents(cents: int) -> str:
    """`123456` → `$1,234.56`, `-5` → `-$0.05`."""
    sign = "-" if cents < 0 else ""
    dollars, rest = divmod(abs(cents), 100)
    return f"{sign}${dollars:,}.{rest:02d}"
