"""What the sandbox bank does with an account, told by its test number.

========================  ====================================================================
any other                 completes
100NN                     ACH returned with RNN in transit
200NN                     ACH completes, then a late return with RNN
30001                     stays pending; a request for payment until it expires
30002                     the network is down twice, then works
40003 40004 40006 41004   RTP rejected with AC03 AC04 AC06 AM04
51001                     RTP rejected with NOAT: the bank takes no instant payments
600NN                     ACH completes, with a notification of change CNN before that
50000                     micro-deposits returned with R03
50001                     needs micro-deposits, which arrive
========================  ====================================================================

A number that has nothing to say about a method completes: RTP knows no returns, ACH no ISO
rejections, and a code that Nacha never assigned cannot come back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from networks import return_codes
from networks.base import AccountType, Correction, EventKind, Method

STAYS_PENDING = "30001"
NETWORK_DOWN = "30002"
MICRO_DEPOSITS_RETURNED = "50000"
MICRO_DEPOSITS_ARRIVE = "50001"

OUTAGES = 2  # how often 30002 finds the network down
MICRO_DEPOSITS = (11, 22)
MICRO_DEPOSITS_LAST_TRY = (33, 44)
MICRO_DEPOSITS_RETURN_CODE = "R03"

_RTP_REJECTIONS = MappingProxyType(
    {
        "40003": "AC03",
        "40004": "AC04",
        "40006": "AC06",
        "41004": "AM04",
        "51001": "NOAT",
    }
)
_RETURNS = re.compile(r"(?P<when>[12])00(?P<code>[0-9]{2})")
_CHANGES = re.compile(r"600(?P<code>[0-9]{2})")
# What a notification of change corrects: holder's name, number, routing number, type.
_WRONG = MappingProxyType(
    {"C01": "n", "C02": "r", "C03": "rn", "C04": "h", "C05": "t", "C06": "nt", "C07": "rnt"}
)
_CODES = {*_WRONG, "C09", "C13"}  # what else banks say
CORRECTED_ROUTING_NUMBER = "099900014"  # of Sandbox Savings Bank
CORRECTED_NAME = "CORRECTED NAME"
_NAMED = {
    STAYS_PENDING,
    NETWORK_DOWN,
    MICRO_DEPOSITS_RETURNED,
    MICRO_DEPOSITS_ARRIVE,
    *_RTP_REJECTIONS,
}


@dataclass(frozen=True)
class Step:
    """One thing the bank will say about an instruction."""

    kind: EventKind
    code: str = ""


ACCEPTED = Step(EventKind.ACCEPTED)
FINAL = Step(EventKind.FINAL)
COMPLETES = (ACCEPTED, FINAL)
LAPSES = Step(EventKind.REJECTED, return_codes.REQUEST_EXPIRED)  # a request for payment


def is_test_account(account_number: str) -> bool:
    patterns = (_RETURNS, _CHANGES)
    is_of_one = any(pattern.fullmatch(account_number) for pattern in patterns)
    return account_number in _NAMED or is_of_one


def needs_micro_deposits(account_number: str) -> bool:
    return account_number in {MICRO_DEPOSITS_RETURNED, MICRO_DEPOSITS_ARRIVE}


def outages(account_number: str) -> int:
    """How many calls about this account find the network down."""
    return OUTAGES if account_number == NETWORK_DOWN else 0


def steps_for(method: Method, account_number: str) -> tuple[Step, ...]:
    """Everything the bank will say about an instruction, in order."""
    if account_number == STAYS_PENDING:
        return ()
    return _ach_steps(account_number) if method.is_ach else _rtp_steps(account_number)


def micro_deposit_steps(account_number: str) -> tuple[Step, ...]:
    if account_number == MICRO_DEPOSITS_RETURNED:
        return (ACCEPTED, Step(EventKind.RETURNED, MICRO_DEPOSITS_RETURN_CODE))
    return COMPLETES


def correction(code: str) -> Correction:
    """The corrected data that the bank tells with a code. Only the account 600NN is told of CNN, so
    the code says what the number was."""
    wrong = _WRONG.get(code, "")
    return Correction(
        code=code,
        routing_number=CORRECTED_ROUTING_NUMBER if "r" in wrong else "",
        account_number=f"700{code[1:]}" if "n" in wrong else "",
        account_type=AccountType.SAVINGS if "t" in wrong else None,
        name=CORRECTED_NAME if "h" in wrong else "",
    )


def _ach_steps(account_number: str) -> tuple[Step, ...]:
    if code := _correction_of(account_number):
        return (ACCEPTED, Step(EventKind.CORRECTED, code), FINAL)
    match = _RETURNS.fullmatch(account_number)
    if match is None or not return_codes.is_ach_return(code := f"R{match['code']}"):
        return COMPLETES
    returned = Step(EventKind.RETURNED, code)
    return (ACCEPTED, returned) if match["when"] == "1" else (*COMPLETES, returned)


def _correction_of(account_number: str) -> str:
    """The code of the notification of change about this account, or an empty string."""
    match = _CHANGES.fullmatch(account_number)
    code = f"C{match['code']}" if match else ""
    return code if code in _CODES else ""


def _rtp_steps(account_number: str) -> tuple[Step, ...]:
    if code := _RTP_REJECTIONS.get(account_number):
        return (Step(EventKind.REJECTED, code),)
    return COMPLETES
