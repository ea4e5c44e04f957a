"""Receivers of signals: a balance fell below its mark, or a tenant's suspension was lifted."""

from __future__ import annotations

from datetime import datetime

from balance import services as ledger
from funding.models import SOURCE_TYPE
from funding.services import auto_funding


def on_available_balance_fell(
    *, tenant_id: str, source_type: str, now: datetime, **_more: object
) -> None:
    """Evaluate auto-funding in the transaction of the posting that crossed the mark.

    Does nothing for the return of a funding: `auto_funding.after_outcomes` runs after that posting,
    and has to look at the return code first.
    """
    if source_type != SOURCE_TYPE:
        auto_funding.evaluate_safely(tenant_id=tenant_id, now=now)


def on_tenant_released(*, tenant_id: str, now: datetime, **_more: object) -> None:
    """Let the next sweep look at this balance. It left the tenant alone while it was suspended."""
    ledger.look_at_low_again(tenant_id, now=now)
