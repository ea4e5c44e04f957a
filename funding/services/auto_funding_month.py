"""The monthly limit in the auto-funding settings."""

from __future__ import annotations

from datetime import datetime

from common.money import format_cents
from funding import selectors
from funding.errors import MonthlyLimitExceeded
from funding.services import limits


def check(
    limit: int | None, *, tenant_id: str, amount: int, now: datetime, apart_from: str = ""
) -> None:
    """Refuse an `amount` of cents that would exceed `limit` in this Eastern month. The funding
    whose id is `apart_from` is not counted. Raises MonthlyLimitExceeded."""
    if limit is None:
        return
    used = selectors.funded_automatically(tenant_id=tenant_id, now=now, apart_from=apart_from)
    if used + amount > limit:
        left = limits.what_is_left("month", limit, used)
        raise MonthlyLimitExceeded(
            f"At most {format_cents(limit)} a month is added automatically. {left}"
        )
