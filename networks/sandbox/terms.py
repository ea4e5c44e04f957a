"""The terms of the sandbox bank: those that are usual, and nothing on the same day."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from networks import schemes
from networks.base import Capabilities, Carrier, Method, VerificationTerms
from networks.sandbox import scripts

CUTOFFS = schemes.USUAL_CUTOFFS
_RTP = replace(schemes.INSTANT, carrier=Carrier.RTP)
CAPABILITIES = Capabilities(
    methods=MappingProxyType(
        {
            Method.ACH_DEBIT: schemes.ach_debit(CUTOFFS),
            Method.ACH_CREDIT: schemes.ach_credit(CUTOFFS),
            Method.RTP_REQUEST: _RTP,
            Method.RTP_CREDIT: _RTP,
        }
    ),
    verification=VerificationTerms(
        needed=lambda account: scripts.needs_micro_deposits(account.account_number),
        amounts=scripts.MICRO_DEPOSITS,
        last_try=scripts.MICRO_DEPOSITS_LAST_TRY,
    ),
)
