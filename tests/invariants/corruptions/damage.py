"""One piece of damage, and what must notice it."""

from __future__ import annotations

from typing import NamedTuple

REFUSED, USUAL, DAILY, SEAL = "refused", "usual", "daily", "seal"


class Damage(NamedTuple):
    """What is done, what notices it, and the code that must be among the findings."""

    name: str
    verdict: str
    code: str
    sql: str


def forged(source_type: str, source_id: str, amount: str = "999") -> str:
    """A line that fits its chain, and a balance that follows."""
    return f"""
INSERT INTO balance_transaction (id, tenant_id, sequence, type, amount, currency, available_delta,
    locked_delta, available_after, locked_after, source_type, source_id, description, created_at)
SELECT 'btx_forged', tenant_id, sequence + 1, 'credit', {amount}, 'USD', {amount}, 0,
    available + {amount}, locked, '{source_type}', '{source_id}', 'gift', posted_at
FROM balance WHERE tenant_id = '{{t}}';
UPDATE balance SET available = available + {amount}, sequence = sequence + 1
    WHERE tenant_id = '{{t}}'
"""
