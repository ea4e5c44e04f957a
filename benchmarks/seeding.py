"""Rows by the hundred thousand, made inside PostgreSQL; every constraint and trigger stays on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from benchmarks import database
from benchmarks.errors import CannotMeasure
from common import crypto, ids
from common.clock import utc_now
from funding.models import FundingSource
from funding.services import drafts, linking
from tenants import selectors as tenants
from tenants.actors import SYSTEM
from tenants.models import Mode, Tenant
from tenants.services import accounts, keys

UNLIMITED = 1_000_000
# Of two lines of a history: half a million of them are two months.
SECONDS_APART = 10

# Four rows a round: credit 300, lock 100, settlement 100, debit 50. The chain holds all along.
_HISTORY = """
INSERT INTO balance_transaction (
    id, tenant_id, sequence, type, amount, currency, available_delta, locked_delta,
    available_after, locked_after, source_type, source_id, description, created_at
)
SELECT
    'btx_' || lpad(n::text, 26, '0'), %(tenant)s, n,
    (ARRAY['credit', 'lock', 'settlement', 'debit'])[p + 1],
    (ARRAY[300, 100, 100, 50])[p + 1], 'USD',
    (ARRAY[300, -100, 0, -50])[p + 1], (ARRAY[0, 100, -100, 0])[p + 1],
    150 * ((n - 1) / 4) + (ARRAY[300, 200, 200, 150])[p + 1], (ARRAY[0, 100, 0, 0])[p + 1],
    'adjustment', %(sources)s || lpad(((n - 1) / 4)::text, 20, '0'), 'Benchmark',
    %(now)s - (%(count)s - n) * %(apart)s * interval '1 second'
FROM (
    SELECT n, ((n - 1) %% 4)::int AS p FROM generate_series(%(first)s::bigint, %(last)s) AS n
) AS round
"""
# What explains them.
_ADJUSTMENTS = """
INSERT INTO balance_adjustment (
    id, tenant_id, type, amount, reason, actor_type, actor_id, created_at
)
SELECT %(sources)s || lpad(n::text, 20, '0'), %(tenant)s, 'credit', 300, 'Benchmark', 'system', '',
    %(now)s
FROM generate_series((%(first)s::bigint - 1) / 4, (%(last)s - 1) / 4) AS n
"""
# And where the money of each round is, in the operator's books.
_OPERATOR = """
INSERT INTO balance_operator_line (
    step, amount, rail, source_type, source_id, tenant_id, day, created_at
)
SELECT 'adjusted_up', 150, '', 'adjustment', %(sources)s || lpad(n::text, 20, '0'), %(tenant)s,
    (%(now)s AT TIME ZONE 'America/New_York')::date, %(now)s
FROM generate_series((%(first)s::bigint - 1) / 4, (%(last)s - 1) / 4) AS n
"""
_BALANCE = """
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence, posted_at)
SELECT %(id)s, tenant_id, 'USD', available_after, 0, locked_after, sequence, created_at
FROM balance_transaction WHERE tenant_id = %(tenant)s ORDER BY sequence DESC LIMIT 1
ON CONFLICT (tenant_id, currency) DO UPDATE SET available = excluded.available,
    locked = excluded.locked, sequence = excluded.sequence, posted_at = excluded.posted_at
"""


@dataclass(frozen=True)
class Customer:
    """A tenant with a key that no rate limit slows, and a bank account."""

    tenant: Tenant
    key: str
    source: FundingSource


def customer() -> Customer:
    """A new one."""
    now = utc_now()
    tenant = accounts.create_tenant(name="Benchmark", mode=Mode.SANDBOX, actor=SYSTEM, now=now)
    issued = keys.issue(tenant=tenant, name="benchmark", actor=SYSTEM, now=now)
    keys.set_pace(
        key_id=issued.key.pk,
        reads_per_second=UNLIMITED,
        writes_per_second=UNLIMITED,
        actor=SYSTEM,
        now=now,
    )
    draft = drafts.enter(
        mode=tenant.mode,
        account_number="000123456789",
        routing_number="021000021",
        holder_name="Acme Inc",
        holder_type="business",
        account_type="checking",
    )
    source = linking.add(tenant_id=tenant.pk, draft=draft, actor=SYSTEM, now=now)
    return Customer(tenant, issued.text, source)


def named_tenant(tenant_id: str) -> str:
    """A tenant with this id, made where there is none."""
    Tenant.objects.get_or_create(pk=tenant_id, defaults={"name": "Benchmark", "mode": Mode.SANDBOX})
    return tenant_id


def history(tenant_id: str, rows: int, *, batch: int = 250_000) -> None:
    """Give an empty tenant `rows` (a multiple of 4) of history that the full audit accepts."""
    now = utc_now()
    with database.cursor() as cursor:
        for first in range(1, rows + 1, batch):
            last = min(first + batch - 1, rows)
            values: dict[str, Any] = {
                "tenant": tenant_id,
                "sources": _sources(tenant_id),
                "now": now,
                "apart": SECONDS_APART,
                "count": rows,
                "first": first,
                "last": last,
            }
            cursor.execute(_ADJUSTMENTS, values)
            cursor.execute(_OPERATOR, values)
            cursor.execute(_HISTORY, values)
        cursor.execute(_BALANCE, {"tenant": tenant_id, "id": ids.new("bal")})


def source_id(tenant_id: str, number: int) -> str:
    """The source of the four rows of one round of a `history`; rounds count from 0."""
    return f"{_sources(tenant_id)}{number:020}"


def _sources(tenant_id: str) -> str:
    """What the ids of a tenant's adjustments begin with: no two tenants share one."""
    return f"adj_{hashlib.sha256(tenant_id.encode()).hexdigest()[:6]}"


def endpoint_secret(endpoint_id: str, secret: str) -> str:
    """What an endpoint's row keeps of `secret`."""
    return crypto.encrypt(secret, context=f"webhook_endpoint.secret:{endpoint_id}")


def require_own_database() -> None:
    """Benchmarks fill and empty tables. Raises CannotMeasure where somebody else's data is."""
    known = tenants.ids_after("", limit=1_000)
    names = set(Tenant.objects.filter(pk__in=known).values_list("name", flat=True))
    if names - {"Benchmark"}:
        raise CannotMeasure("This database has tenants: a benchmark empties tables.")
