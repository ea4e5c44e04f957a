"""What a bank does with a payment or a request, told by the last five digits of the account.

Payments, by the creditor's account:

=====================  =============================================================================
40003 40004 40006      rejected: AC03, AC04, AC06
41004                  rejected: AM04
51001                  the receiving bank cannot be reached: 9912 (RTP), AGNT (FedNow)
51002                  settled and never answered, unless asked or sent a duplicate
51003                  lost at the first time: nothing is recorded, nothing is answered
51004                  accepted without posting (ACWP), then posted (ACCC)
51005                  accepted without posting, then rejected, and the money comes back
51006                  settled, and answered late
51007                  settled, and answered twice
51008                  rejected for a time-out at the first time: DS24 (RTP), E997 (FedNow)
51009                  settled; the line breaks before the HTTP answer
51010                  accepted without posting and posted, told in the wrong order
51011                  the receiving bank takes no such message: NOAT (RTP), AG03 (FedNow)
other                  settled
=====================  =============================================================================

Requests, by the debtor's account:

=====================  =============================================================================
40003 40004 40006      refused by the bank: AC06, the only one of the three that answers know
52001                  approved and paid at once
52002                  paid one cent short
52003                  paid twice
52004                  paid after its expiry
52005                  paid without an answer to the request
52006                  refused at once: CUST
52007                  never answered
52008                  paid to another account
other                  waits for a person
=====================  =============================================================================
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

from devstack.instant.profiles import Profile


class Payee(StrEnum):
    """What becomes of a payment at the receiving bank."""

    TAKES = "takes"
    SILENT = "silent"
    LOST = "lost"
    POSTS_LATER = "posts_later"
    SENDS_BACK = "sends_back"
    LATE = "late"
    TWICE = "twice"
    TIMES_OUT = "times_out"
    LINE_BREAKS = "line_breaks"
    OUT_OF_ORDER = "out_of_order"
    REJECTS = "rejects"


class Payer(StrEnum):
    """What becomes of a request at the payer's bank."""

    WAITS = "waits"
    PAYS = "pays"
    PAYS_SHORT = "pays_short"
    PAYS_TWICE = "pays_twice"
    PAYS_LATE = "pays_late"
    PAYS_UNANSWERED = "pays_unanswered"
    REFUSES = "refuses"
    SILENT = "silent"
    PAYS_ELSEWHERE = "pays_elsewhere"
    BLOCKED = "blocked"


_REJECTIONS = MappingProxyType({"40003": "AC03", "40004": "AC04", "40006": "AC06", "41004": "AM04"})
_UNREACHABLE, _UNSUPPORTED = "51001", "51011"
_PAYEES = MappingProxyType(
    {
        "51002": Payee.SILENT,
        "51003": Payee.LOST,
        "51004": Payee.POSTS_LATER,
        "51005": Payee.SENDS_BACK,
        "51006": Payee.LATE,
        "51007": Payee.TWICE,
        "51008": Payee.TIMES_OUT,
        "51009": Payee.LINE_BREAKS,
        "51010": Payee.OUT_OF_ORDER,
    }
)
_PAYERS = MappingProxyType(
    {
        "40003": Payer.BLOCKED,
        "40004": Payer.BLOCKED,
        "40006": Payer.BLOCKED,
        "52001": Payer.PAYS,
        "52002": Payer.PAYS_SHORT,
        "52003": Payer.PAYS_TWICE,
        "52004": Payer.PAYS_LATE,
        "52005": Payer.PAYS_UNANSWERED,
        "52006": Payer.REFUSES,
        "52007": Payer.SILENT,
        "52008": Payer.PAYS_ELSEWHERE,
    }
)


def payee_of(account: str) -> Payee:
    """What the bank of this account does with a payment to it."""
    key = account[-5:]
    if key in _REJECTIONS or key in {_UNREACHABLE, _UNSUPPORTED}:
        return Payee.REJECTS
    return _PAYEES.get(key, Payee.TAKES)


def rejection_of(account: str, profile: Profile) -> str:
    """With which code a bank rejects a payment to an account that it rejects."""
    key = account[-5:]
    if key == _UNREACHABLE:
        return profile.not_reachable
    if key == _UNSUPPORTED:
        return "NOAT" if profile.is_rtp else "AG03"
    return _REJECTIONS[key]


def payer_of(account: str) -> Payer:
    """What the holder of this account does with a request for payment."""
    return _PAYERS.get(account[-5:], Payer.WAITS)
