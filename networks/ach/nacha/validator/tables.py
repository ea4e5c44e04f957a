"""What a field of ours may hold. Positions here and in the other modules are the rule book's.

Source: Nacha Operating Rules, Appendices Two to Five; routing number ranges: American Bankers
Association.
"""

from __future__ import annotations

import re

CLEAN = re.compile(rb"[\x20-\x60\x7b-\x7e]*").fullmatch
PRINTABLE = re.compile(rb"[\x20-\x7e]*").fullmatch
DIGITS = re.compile("[0-9]+").fullmatch

CREDIT, DEBIT = "credit", "debit"
LIVE, PRENOTE, ZERO, RETURNED = "live", "prenote", "zero", "returned"

# Transaction code: which way the money goes, and what the entry is.
TRANSACTION_CODES = {
    **dict.fromkeys(("21", "31", "41", "51"), (CREDIT, RETURNED)),
    **dict.fromkeys(("22", "32", "42", "52"), (CREDIT, LIVE)),
    **dict.fromkeys(("23", "33", "43", "53"), (CREDIT, PRENOTE)),
    **dict.fromkeys(("24", "34", "44", "54"), (CREDIT, ZERO)),
    **dict.fromkeys(("26", "36", "46", "56"), (DEBIT, RETURNED)),
    **dict.fromkeys(("27", "37", "47", "55"), (DEBIT, LIVE)),
    **dict.fromkeys(("28", "38", "48"), (DEBIT, PRENOTE)),
    **dict.fromkeys(("29", "39", "49"), (DEBIT, ZERO)),
}
LOAN_DEBIT = "55"

SERVICE_CLASSES = {"200": (CREDIT, DEBIT), "220": (CREDIT,), "225": (DEBIT,)}
OURS = ("CCD", "PPD", "WEB", "COR")
OTHERS = (
    *("ACK", "ARC", "ATX", "BOC", "CIE", "CTX", "DNE", "ENR", "MTE", "POP", "POS", "RCK", "SHR"),
    *("TEL", "TRC", "TRX", "XCK"),
)
DISHONOR_CODES = ("R61", "R62", "R67", "R68", "R69", "R70")
REFUSAL_CODES = ("C61", "C62", "C63", "C64", "C65", "C66", "C67", "C68", "C69")

# Federal Reserve districts, thrifts, electronic; the government (00) and traveler's checks (80) can
# stand in a file, but never in one of ours.
_PREFIXES = {f"{n:02d}" for n in (*range(1, 13), *range(21, 33), *range(61, 73))}


def is_bank(eight: str) -> bool:
    """Whether eight digits can be the beginning of a routing number."""
    return DIGITS(eight) is not None and eight[:2] in _PREFIXES


def has_check_digit(nine: str) -> bool:
    """The ABA sum over all nine digits: 3, 7, 1, three times over."""
    total = 0
    for place in (0, 3, 6):
        total += 3 * int(nine[place]) + 7 * int(nine[place + 1]) + int(nine[place + 2])
    return total % 10 == 0


def is_blank(field: str) -> bool:
    """Blanks or zeros only."""
    return not field.strip(" 0")
