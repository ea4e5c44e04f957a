"""What a type code of BAI2 says: whether money came or went, and what kind of line it is.

The ranges of the standard decide the direction, also of codes that it does not name: 100 to 399 are
credits, 400 to 699 debits, and of the banks' own codes 920 to 959 credits and 960 to 999 debits.
The others are balances, loans and texts, and say neither.
"""

from __future__ import annotations

from types import MappingProxyType

from networks.bank_statements.bai2.type_code_names import DETAILS, TOTALS
from networks.bank_statements.items import LineKind

OPENING_LEDGER, CLOSING_LEDGER = "010", "015"
TOTAL_CREDITS, TOTAL_DEBITS = "100", "400"

_OF_KIND = {
    LineKind.BATCH: ("166", "466"),
    LineKind.RETURN: (
        *("123", "168", "255", "257", "261", "266", "268"),
        *("423", "468", "555", "557", "561", "566", "568"),
    ),
    LineKind.REVERSAL: ("252", "254", "258", "395", "552", "554", "558", "694"),
    LineKind.FEE: ("224", "398", "524", "564", "567", "661", "698"),
    LineKind.INTEREST: ("242", "346", "354", "359", "654", "659"),
}
_KINDS = MappingProxyType({code: kind for kind, codes in _OF_KIND.items() for code in codes})


def sign(code: str) -> int | None:
    """1 for a credit, -1 for a debit, None for a code that is neither."""
    if "100" <= code <= "399" or "920" <= code <= "959":
        return 1
    if "400" <= code <= "699" or "960" <= code <= "999":
        return -1
    return None


def kind(code: str) -> LineKind:
    """What a line with that code is. A code that the standard does not name is unknown."""
    if not is_known(code):
        return LineKind.UNKNOWN
    plain = LineKind.CREDIT if sign(code) == 1 else LineKind.DEBIT
    return _KINDS.get(code, plain)


def is_known(code: str) -> bool:
    """Whether the standard names the code, for single lines or for totals."""
    return code in DETAILS or code in TOTALS


def is_total(code: str) -> bool:
    return code in TOTALS


def name(code: str) -> str:
    """The standard's name; empty for a code that it does not name."""
    return DETAILS.get(code) or TOTALS.get(code, "")
