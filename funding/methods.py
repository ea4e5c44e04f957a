"""How the methods of the interface are called by the payment networks."""

from __future__ import annotations

from types import MappingProxyType

from funding.models import FundingMethod
from networks.base import Method

# RTP cannot pull: it asks the account holder to push.
NETWORK_METHOD = MappingProxyType[str, Method](
    {FundingMethod.ACH_DEBIT: Method.ACH_DEBIT, FundingMethod.RTP: Method.RTP_REQUEST}
)
