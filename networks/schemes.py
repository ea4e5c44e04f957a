"""The terms of the schemes themselves, whichever network gives access to them.

The amount field of an ACH entry has ten digits; RTP and FedNow stop at ten million dollars.
"""

from __future__ import annotations

from networks import calendar
from networks.base import MethodTerms

_ACH_AMOUNT_MAX = 9_999_999_999
ACH_DEBIT = MethodTerms(
    amount_max=_ACH_AMOUNT_MAX,
    cutoffs=calendar.ACH_CUTOFFS,
    expected_on=calendar.debit_availability,
)
ACH_CREDIT = MethodTerms(
    amount_max=_ACH_AMOUNT_MAX, cutoffs=calendar.ACH_CUTOFFS, expected_on=calendar.settlement_date
)
INSTANT = MethodTerms(amount_max=1_000_000_000, expected_on=calendar.instant_availability)
