"""The signals we listen to: a balance fell below its mark, a suspension was lifted."""

from __future__ import annotations

from datetime import datetime

from balance import services as ledger
from funding.models import SOURCE_TYPE
from funding.services import auto_funding


def on_available_balance_fell(
    *, tenant_id: str, source_type: str, now: datetime, **_more: object
) -> None:
    """Add money in the transaction of the posting that crossed the mark.

    Not for a funding taken back by the bank: `auto_funding.after_outcome` follows that posting,
    and must look at the return code first.
    """
    if source_type != SOURCE_TYPE:
        auto_funding.evaluate_safely(tenant_id=tenant_id, now=now)


def on_tenant_released(*, tenant_id: str, now: datetime, **_more: object) -> None:
    """The next sweep looks at the balance, which it left alone while nothing could fire."""
    ledger.look_at_low_again(tenant_id=tenant_id, now=now)
