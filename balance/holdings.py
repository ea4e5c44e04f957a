"""What each live tenant has, for the proof of funds."""

from __future__ import annotations

from typing import NamedTuple

from common.engine import sql
from tenants.models import Mode

_OF_LIVE = """
SELECT tenant.id, coalesce(available, 0), coalesce(locked, 0), coalesce(sequence, 0)
FROM tenants_tenant AS tenant LEFT JOIN balance ON balance.tenant_id = tenant.id
WHERE tenant.mode = %(mode)s
"""


class Holding(NamedTuple):
    """A tenant's balance in cents, as of the line `sequence` of its ledger."""

    tenant_id: str
    available: int
    locked: int
    sequence: int


def of_live() -> list[Holding]:
    """The balances of all live tenants, those without any posting too, in no order. The money of a
    sandbox tenant is nowhere. 100,000 of them take a fifth of a second."""
    return [Holding(*row) for row in sql.rows(_OF_LIVE, {"mode": Mode.LIVE})]
