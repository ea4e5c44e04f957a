"""Proves again what an audit proved before, by reading the rows once, in any order.

A checkpoint says how far a tenant's chain was judged row by row. As long as the rows below it are
the same (their digest), complete, linked to each other and sum to what the checkpoint says, they
need not be judged again. Decision 0079 says what that rests on.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import connection

from common.audits import by_index

# A row as 64 bits, for rows named `posted`: PostgreSQL's hash of each text, seeded with the next
# number mixed into the hash before. Its hash of a bigint would fold 64 bits into 32.
DIGEST = """hashfloat8extended(date_part('epoch', posted.created_at),
    hashtextextended(posted.description, posted.locked_after #
    hashtextextended(posted.source_id, posted.available_after #
    hashtextextended(posted.source_type, posted.locked_delta #
    hashtextextended(posted.currency, posted.available_delta #
    hashtextextended(posted.type, posted.amount #
    hashtextextended(posted.id, posted.sequence)))))))"""

# The chain at one point: a number and the balances there, as 64 bits.
_LINK = "hashint8extended({sequence}, {locked} # hashint8extended(0, {available}))"
_AFTER = _LINK.format(
    sequence="posted.sequence", available="posted.available_after", locked="posted.locked_after"
)
_BEFORE = _LINK.format(
    sequence="posted.sequence - 1",
    available="posted.available_after - posted.available_delta",
    locked="posted.locked_after - posted.locked_delta",
)
_END = _LINK.format(
    sequence="proven.sequence", available="proven.available", locked="proven.locked"
)
_BEGINNING = _LINK.format(sequence="0", available="0", locked="0")

# Where each row begins at the point where another one ends, the points in between cancel out: no
# point is there twice, because none of their numbers is.
_KEPT = f"""
    SELECT
        count(*) AS rows,
        bit_xor({_AFTER} # {_BEFORE}) AS ends,
        sum({DIGEST}) AS digest
    FROM balance_transaction AS posted
"""  # noqa: S608  # our own text
_AGREES = f"""
    kept.rows = proven.sequence AND kept.ends = {_END} # {_BEGINNING}
    AND kept.digest = proven.digest
"""

# Many short histories share one query; a long one gets its own, which PostgreSQL may then read with
# several processes.
SOUND = f"""
SELECT proven.tenant_id
FROM balance_checkpoint AS proven
CROSS JOIN LATERAL (
    {_KEPT} WHERE posted.tenant_id = proven.tenant_id AND posted.sequence <= proven.sequence
) AS kept
WHERE proven.tenant_id = ANY(%(tenant_ids)s) AND proven.sequence < %(long)s AND {_AGREES}
"""  # noqa: S608  # our own text
LONG = """
SELECT tenant_id, sequence FROM balance_checkpoint
WHERE tenant_id = ANY(%(tenant_ids)s) AND sequence >= %(long)s
"""
LONG_IS_SOUND = f"""
SELECT 1
FROM ({_KEPT} WHERE posted.tenant_id = %(tenant_id)s AND posted.sequence <= %(sequence)s) AS kept
JOIN balance_checkpoint AS proven ON proven.tenant_id = %(tenant_id)s AND {_AGREES}
"""  # noqa: S608  # our own text
LONG_FROM = 50_000


def sound(tenant_ids: Collection[str]) -> set[str]:
    """Those of the tenants whose rows up to their checkpoint are what was proven."""
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"tenant_ids": list(tenant_ids), "long": LONG_FROM}
        with by_index():
            cursor.execute(SOUND, values)
        found = {tenant_id for (tenant_id,) in cursor.fetchall()}
        cursor.execute(LONG, values)
        for tenant_id, sequence in cursor.fetchall():
            cursor.execute(LONG_IS_SOUND, {"tenant_id": tenant_id, "sequence": sequence})
            if cursor.fetchone():
                found.add(tenant_id)
        return found
