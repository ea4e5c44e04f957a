"""What the account holder's bank does with an entry, told by the last five digits of the account.

=======  ==========================================================================================
100NN    returned with RNN on the banking day after settlement
110NN    the same; a dishonored return is contested
120NN    returned with RNN, and once more on the next banking day, which is a duplicate
130NN    returned with RNN, one cent short
140NN    returned with RNN, naming a trace number that nobody used
160NN    returned with RNN; a new attempt (RETRY PYMT) completes
200NN    completes, then a late return with RNN
210NN    the same; a dishonored return is contested
30001    held: neither settled nor returned
30002    the first two deliveries of a file that names it fail; then it completes
50000    micro-deposits are returned with R03; everything else completes
600NN    completes; the bank sends a notification of change CNN
610NN    the same, with badly aligned data, as real ones have
620NN    the same, with data that cannot be; refused, the right data follow
71000    completes; on the next banking day the holder sends the same amount to our account
other    completes
=======  ==========================================================================================

NN of a return is a code of the rule book; others complete. The codes that only an operator gives
(R13, R18, ...) come back in the operator's next delivery.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

UNASSIGNED = frozenset({48, 49, *range(54, 61), *range(63, 67), 78, 79, *range(86, 90)})
OPERATOR_CODES = frozenset({13, 18, 19, 25, 26, 27, 28, 30, 32, 34, 35, 36})
RDFI_CODES = frozenset(range(1, 54)) | frozenset(range(80, 86)) | {90}
CHANGE_CODES = frozenset({*range(1, 10), 13, 14})
HELD = "30001"
FAILS_TWICE = "30002"
VERIFICATION_RETURNED = "50000"
SENDS_CREDIT = "71000"
_FAMILY = re.compile(r"(1[012346]0|2[01]0|6[012]0)(\d\d)")


class Kind(StrEnum):
    COMPLETE = "complete"
    RETURN = "return"
    CHANGE = "change"
    HOLD = "hold"
    CREDIT = "credit"


@dataclass(frozen=True)
class Script:
    kind: Kind
    code: str = ""
    family: str = ""

    @property
    def is_late(self) -> bool:
        return self.family in {"200", "210"}

    @property
    def contests(self) -> bool:
        return self.family in {"110", "210"}

    @property
    def is_by_operator(self) -> bool:
        return self.kind is Kind.RETURN and int(self.code[1:]) in OPERATOR_CODES


COMPLETES = Script(Kind.COMPLETE)


def script_of(account: str, description: str) -> Script:
    """What happens to an entry of a batch with this description. A reversal always completes."""
    key = account.strip()[-5:]
    if description == "REVERSAL":
        return COMPLETES
    if key == HELD:
        return Script(Kind.HOLD)
    if key == SENDS_CREDIT:
        return Script(Kind.CREDIT)
    if key == VERIFICATION_RETURNED and description == "ACCTVERIFY":
        return Script(Kind.RETURN, "R03")
    match = _FAMILY.fullmatch(key)
    return _of_family(match[1], int(match[2]), description) if match else COMPLETES


def _of_family(family: str, number: int, description: str) -> Script:
    if family[0] == "6":
        is_known = number in CHANGE_CODES
        return Script(Kind.CHANGE, f"C{number:02}", family) if is_known else COMPLETES
    is_known = number in RDFI_CODES and number not in UNASSIGNED
    if not is_known or (family == "160" and description == "RETRY PYMT"):
        return COMPLETES
    return Script(Kind.RETURN, f"R{number:02}", family)
