"""Who orders by an API key, and who ends or changes the key, take turns in the order in which they
came (decision 0196).

An order holds its key, together with others by the same key; a revocation, a rotation, a change or
a removal of who is behind it locks the key alone. A lock of the row is no queue for that: who
shares one comes in before who waits to change the row, so a key that paid in a loop would never be
revoked. PostgreSQL's advisory locks are a queue. The row is locked as well, because processes of
the last release know of no other lock, and because that reads the row as it is after the wait.
"""

from __future__ import annotations

from collections.abc import Collection

from common.engine import sql
from tenants.errors import KeyRevoked
from tenants.models import ApiKey

# `FOR SHARE` reads the newest version of the row, also one that was committed during the wait. The
# database's time is that of the statement's arrival: what it waited is added.
_HOLD = """
SELECT revoked_at IS NOT NULL,
    expires_at <= ballast_now() + (clock_timestamp() - statement_timestamp())
FROM tenants_apikey
WHERE id = %(key_id)s
    AND (SELECT pg_advisory_xact_lock_shared(hashtextextended(%(key_id)s, 0))) IS NOT NULL
FOR SHARE
"""
_LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended(id, 0)) IS NOT NULL
FROM (SELECT id FROM unnest(%(key_ids)s::text[]) AS id ORDER BY id) AS keys
"""


def hold(key_id: str) -> None:
    """Until the caller's transaction ends, nobody revokes this key, nor removes who is behind it.
    One query. Raises KeyRevoked where somebody was faster."""
    row = sql.first(_HOLD, {"key_id": key_id})
    if row is None:
        return
    is_revoked, is_over = row
    if is_revoked or is_over:
        raise KeyRevoked(f"This API key {'was revoked' if is_revoked else 'ended'} a moment ago.")


def lock(key_ids: Collection[str]) -> None:
    """Wait for orders by these keys that are being placed, and let no other begin until the
    caller's transaction ends. Two queries."""
    sql.rows(_LOCK, {"key_ids": list(key_ids)})
    rows = ApiKey.objects.filter(pk__in=key_ids).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk"))
