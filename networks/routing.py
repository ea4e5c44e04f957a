"""ABA routing numbers: whether they are possible, and whose they are."""

from __future__ import annotations

import re
from types import MappingProxyType

# Not \d, which also matches the digits of other scripts.
NINE_DIGITS = re.compile(r"[0-9]{9}")
WEIGHTS = (3, 7, 1) * 3

# Federal Reserve districts, thrifts, electronic transactions. Left out: 00 (the government) and
# 80 (traveler's checks), from which no customer account can be funded.
PREFIXES = frozenset([*range(1, 13), *range(21, 33), *range(61, 73)])

SANDBOX_BANKS = MappingProxyType(
    {
        "099900001": "First Sandbox Bank",
        "099900014": "Sandbox Savings Bank",
        "099900027": "Sandbox Federal Credit Union",
    }
)

# Main numbers of well-known banks, so that a person sees a name while typing. It is no directory,
# which would need an agreement with the Federal Reserve; a bank that is not here may well exist.
_NAMES = MappingProxyType(
    {
        "011500120": "Citizens Bank",
        "021000021": "JPMorgan Chase",
        "021000089": "Citibank",
        "021000322": "Bank of America",
        "022000046": "M&T Bank",
        "026009593": "Bank of America",
        "031000053": "PNC Bank",
        "031101279": "The Bancorp Bank",
        "031176110": "Capital One",
        "031201360": "TD Bank",
        "041001039": "KeyBank",
        "042000314": "Fifth Third Bank",
        "043000096": "PNC Bank",
        "044000024": "Huntington Bank",
        "044000037": "JPMorgan Chase",
        "051405515": "Capital One",
        "053101121": "Truist",
        "061000104": "Truist",
        "062005690": "Regions Bank",
        "065000090": "Capital One",
        "071000013": "JPMorgan Chase",
        "091000022": "U.S. Bank",
        "111000025": "Bank of America",
        "111000614": "JPMorgan Chase",
        "121000248": "Wells Fargo",
        "121000358": "Bank of America",
        "121042882": "Wells Fargo",
        "121145349": "Column",
        "121202211": "Charles Schwab Bank",
        "124003116": "Ally Bank",
        "256074974": "Navy Federal Credit Union",
        "314074269": "USAA Federal Savings Bank",
        "322271627": "JPMorgan Chase",
        "322271724": "Citibank",
        **SANDBOX_BANKS,
    }
)


def validate(routing_number: str) -> bool:
    """Nine ASCII digits, a prefix that is in use for accounts, and the ABA checksum.

    Whether the bank exists only the network knows (return code R13).
    """
    if not NINE_DIGITS.fullmatch(routing_number) or int(routing_number[:2]) not in PREFIXES:
        return False
    digits = map(int, routing_number)
    return sum(w * d for w, d in zip(WEIGHTS, digits, strict=True)) % 10 == 0


def bank_name(routing_number: str) -> str:
    """The bank behind a well-known number, else an empty string."""
    return _NAMES.get(routing_number, "")
