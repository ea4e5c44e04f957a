"""The limits that staff set for one tenant, in place of the deployment's."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.money import AMOUNT_MAX
from funding.models import FundingLimit
from funding.services.limits import OwnLimits
from tenants.actors import Actor
from tenants.services import audit


def of(tenant_id: str) -> OwnLimits:
    """The limits that staff have set for the tenant."""
    row = FundingLimit.objects.filter(tenant_id=tenant_id).first() or FundingLimit()
    return _values(row)


@transaction.atomic
def change(*, tenant_id: str, limits: OwnLimits, reason: str, actor: Actor, now: datetime) -> bool:
    """Put `limits` in force for what is asked for from now on. Returns False when nothing changes.

    Raises ValueError for a limit below one cent or above what the ledger can hold.
    """
    wanted = limits._asdict()
    if not all(1 <= limit <= AMOUNT_MAX for limit in wanted.values() if limit is not None):
        raise ValueError("a limit out of range")
    FundingLimit.objects.get_or_create(tenant_id=tenant_id)
    row = FundingLimit.objects.select_for_update(no_key=True).get(tenant_id=tenant_id)
    old = _values(row)._asdict()
    if old == wanted:
        return False
    FundingLimit.objects.filter(pk=row.pk).update(**wanted)
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="tenant.limits_changed",
        subject_id=tenant_id,
        details={"from": old, "to": wanted},
        staff_note=reason,
        now=now,
    )
    return True


def _values(row: FundingLimit) -> OwnLimits:
    return OwnLimits(*(getattr(row, name) for name in OwnLimits._fields))
