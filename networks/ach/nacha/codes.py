"""Transaction codes, reason codes and standard entry classes, for the reader and the writer.

Sources: Nacha Operating Rules, Appendix Three (transaction codes, standard entry class codes), Four
(return reason codes) and Five (change codes).
"""

from __future__ import annotations

_ACCOUNTS = (20, 30, 40, 50)  # demand, savings, general ledger, loan

# The last digit: 1 and 6 returns and notifications, 3 and 8 prenotes, 4 and 9 zero dollars.
CREDITS = frozenset(kind + last for kind in _ACCOUNTS for last in (1, 2, 3, 4))
DEBITS = frozenset(kind + last for kind in _ACCOUNTS[:3] for last in (6, 7, 8, 9)) | {55, 56}
RETURNS = frozenset(kind + last for kind in _ACCOUNTS for last in (1, 6))
LIVE = frozenset(kind + 2 for kind in _ACCOUNTS) | {27, 37, 47, 55}
WITHOUT_AMOUNT = (CREDITS | DEBITS) - RETURNS - LIVE

MIXED, CREDITS_ONLY, DEBITS_ONLY, ADVICES = 200, 220, 225, 280
SERVICE_CLASSES = frozenset((MIXED, CREDITS_ONLY, DEBITS_ONLY))

COR, IAT, ADV = "COR", "IAT", "ADV"
READ_SECS = frozenset(("CCD", "PPD", "WEB", "TEL", COR))
OTHER_SECS = frozenset(
    (
        *("ACK", "ARC", "ATX", "BOC", "CIE", "CTX", "DNE", "ENR", "MTE", "POP", "POS", "RCK"),
        *("SHR", "TRC", "TRX", "XCK", ADV, IAT),
    )
)


def _named(letter: str, *ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(f"{letter}{n:02d}" for first, last in ranges for n in range(first, last + 1))


RETURN_CODES = _named("R", (1, 47), (50, 53), (80, 85), (90, 90))
DISHONORED_CODES = _named("R", (61, 62), (67, 70))
CONTESTED_CODES = _named("R", (71, 77))
CHANGE_CODES = _named("C", (1, 9), (13, 14))
REFUSAL_CODES = _named("C", (61, 69))


def is_dishonor(code: str) -> bool:
    """Whether a return code, assigned or not, is one by which the sending bank answers a return."""
    return "R61" <= code <= "R70"


def is_contest(code: str) -> bool:
    """Whether a return code, assigned or not, is one by which the receiving bank answers that."""
    return "R71" <= code <= "R77"


def is_refusal(code: str) -> bool:
    """Whether a change code refuses a notification."""
    return "C61" <= code <= "C69"
