"""The terms of a top-up: its bank account, the limits, and the amount above which it needs
approval."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from approvals import requests
from common.engine import sql
from common.ids import is_id
from funding.services import limits, sources
from funding.services.limits import Limits, OwnLimits
from funding.services.sources import Standing

_THRESHOLD = """
SELECT confirmation_threshold FROM funding_autofundingconfig
WHERE tenant_id = %(tenant_id)s AND confirm_topups
"""
_LOCK_WITH_TERMS = """
SELECT ({threshold}), own.*, source.*
FROM ({source}) AS source LEFT JOIN ({own}) AS own ON true
"""
_LOCK = _LOCK_WITH_TERMS.format(
    threshold=_THRESHOLD,
    source=sources.LOCK_FOR_USE.format(columns=", ".join(Standing._fields)),
    own=limits.OWN,
)


class Terms(NamedTuple):
    """What a top-up is judged by. `approved_above` is cents; None: it needs no approval."""

    limits: Limits
    approved_above: int | None
    holder_type: str


def lock(*, tenant_id: str, mode: str, source_id: str, method: str) -> Terms:
    """The terms of a top-up from this source. The source cannot be removed before the caller's
    transaction ends. One round trip.

    Raises NotFound, FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported,
    FundingSourceNotAuthorized.
    """
    values = {"tenant_id": tenant_id, "id": source_id}
    row = sources.found(is_id(source_id, "fs") and sql.first(_LOCK, values))
    threshold, rest = row[0], row[1:]
    own = OwnLimits(*rest[: len(OwnLimits._fields)])
    source = Standing(*rest[len(own) :])
    sources.require_debitable(source=source, method=method)
    return Terms(limits.in_force(own, mode=mode), threshold, source.account_holder_type)


def approval_deadline(*, tenant_id: str, amount: int, now: datetime) -> datetime | None:
    """When the approval of a top-up of `amount` cents would expire; None if it needs none."""
    row = sql.first(_THRESHOLD, {"tenant_id": tenant_id})
    return requests.deadline(row[0], amount=amount, now=now) if row else None
