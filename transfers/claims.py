"""Which rows are handed over next: claimed straight from the index of what is to be sent.

Two workers never look at the same rows: each locks the first that nobody has locked. A row that
may not be sent, because a switch, its tenant's suspension or a closed route keeps it, is parked by
the first claim that meets it (`parked_for` names the reason) and leaves that part of the index, so
that no claim reads it again. Every run first asks which reasons hold no longer, and gives their
rows back; it reads one entry per reason and network, however many rows there are (decision 0140).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic

from django.conf import settings
from django.db import transaction

from common import leases
from common.engine import arrays, sql
from common.engine.lookups import one_of
from transfers import routes
from transfers.contract import Row, Transfer

# How many parked rows one run gives back.
UNPARK_MAX = 2_000

# In the words of the partial index (`rows.to_send`), which holds all of these in its order.
_QUEUED = "next_attempt_at IS NOT NULL AND held_at IS NULL"

# Each step jumps to the next network in the index; it reads one entry per network.
_NETWORKS = f"""
WITH RECURSIVE found AS (
    (SELECT network FROM {{table}} WHERE {_QUEUED} AND parked_for = '' ORDER BY network LIMIT 1)
    UNION ALL
    SELECT (SELECT network FROM {{table}}
        WHERE {_QUEUED} AND parked_for = '' AND network > found.network ORDER BY network LIMIT 1)
    FROM found WHERE found.network IS NOT NULL
)
SELECT network FROM found WHERE network IS NOT NULL
"""  # noqa: S608  # our own text

_LOCK = f"""
SELECT id FROM {{table}}
WHERE {_QUEUED} AND {{which}} AND status = %(status)s
    AND next_attempt_at <= least(%(now)s, ballast_now())
    AND (leased_until IS NULL OR leased_until <= least(%(now)s, ballast_now()))
ORDER BY next_attempt_at, id LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
"""  # noqa: S608  # our own text
_OF_A_NETWORK = "parked_for = '' AND network = %(network)s"
_OF_ITS_ID = "id = %(id)s"

# The same rules as `due`, which finds what no reason keeps.
_PARK = f"""
UPDATE {{table}} AS row SET parked_for = kept.reason
FROM (
    SELECT id, coalesce(
        (SELECT tenant.id FROM tenants_tenant AS tenant
            WHERE tenant.id = found.tenant_id AND tenant.status <> 'active'),
        (SELECT switch.id FROM tenants_switch AS switch
            WHERE switch.kind = %(kind)s AND switch.released_at IS NULL
                AND (switch.tenant_id = found.tenant_id
                    OR switch.tenant_id IS NULL AND switch.network IN ('', found.network))
            ORDER BY switch.id LIMIT 1),
        {routes.REASON}
    ) AS reason
    FROM {{table}} AS found WHERE found.id = ANY(%(ids)s::text::text[])
) AS kept
WHERE row.id = kept.id AND kept.reason IS NOT NULL
RETURNING row.id
"""  # noqa: S608  # our own text

_OVER = f"""
WITH RECURSIVE found AS (
    (SELECT parked_for, network FROM {{table}}
        WHERE {_QUEUED} AND parked_for > '' ORDER BY parked_for, network LIMIT 1)
    UNION ALL
    SELECT next.parked_for, next.network FROM found, LATERAL (
        SELECT parked_for, network FROM {{table}}
        WHERE {_QUEUED} AND (parked_for, network) > (found.parked_for, found.network)
        ORDER BY parked_for, network LIMIT 1) AS next
)
SELECT parked_for, network FROM found
WHERE NOT EXISTS (SELECT FROM tenants_switch WHERE id = parked_for AND released_at IS NULL)
    AND NOT EXISTS (SELECT FROM tenants_tenant WHERE id = parked_for AND status <> 'active')
    AND NOT EXISTS (SELECT FROM rails_route AS route
        WHERE id = parked_for AND NOT {routes.LEADS.format(network="found.network")})
"""  # noqa: S608  # our own text
_UNPARK = f"""
UPDATE {{table}} SET parked_for = ''
WHERE id = ANY(ARRAY(
    SELECT id FROM {{table}} WHERE {_QUEUED} AND parked_for = %(reason)s
        AND network = %(network)s
    ORDER BY network, next_attempt_at, id LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
))
RETURNING id
"""  # noqa: S608  # our own text


@dataclass(frozen=True)
class Claim(Generic[Row]):
    """`rows` are leased; so many others are `parked` that both together reach `limit`, or nothing
    more is due."""

    rows: list[Row]
    parked: int
    limit: int

    @property
    def taken(self) -> int:
        return len(self.rows) + self.parked

    @property
    def is_full(self) -> bool:
        """Whether there may be more."""
        return self.taken >= self.limit


def networks(transfer: Transfer[Any]) -> list[str]:
    """The names of the networks that something is to be sent to, now or later."""
    return [name for (name,) in sql.rows(_text(_NETWORKS, transfer), {})]


def claim(
    transfer: Transfer[Row],
    *,
    now: datetime,
    limit: int,
    lease: timedelta,
    network: str = "",
    only: str | None = None,
) -> Claim[Row]:
    """Lease the oldest due rows of a network, or that one of the id `only`, parked or not.

    Of `limit` rows it parks those that may not be sent. Raises RuntimeError inside a transaction:
    the lease must be committed before anybody is called.
    """
    with transaction.atomic(durable=True):
        ids = due_ids(transfer, now=now, limit=limit, network=network, only=only)
        if not ids:
            return Claim([], 0, limit)
        rows = list(transfer.due().filter(one_of("pk", ids)).order_by("next_attempt_at", "pk"))
        _fix_terms(transfer, rows, now)
        leases.take(rows, now=now, lease=lease, parked_for="")
        parked = _park(transfer, set(ids).difference(row.pk for row in rows))
    return Claim(rows, parked, limit)


def _fix_terms(transfer: Transfer[Row], rows: list[Row], now: datetime) -> None:
    """Write down what of a row is settled as long as no network can have seen it: which version of
    its bank account it goes out with, the newest, and what its transfer fixes. From then on it
    stays, because a repeat is the same instruction."""
    for row in rows:
        if row.attempts > 0:
            continue
        newest = {"account_version": transfer.account(row).version}
        fixed = {**newest, **transfer.fixed_when_sent(row, now)}
        changed = {name: value for name, value in fixed.items() if getattr(row, name) != value}
        for name, value in changed.items():
            setattr(row, name, value)
        if changed:
            row.save(update_fields=changed)


def due_ids(
    transfer: Transfer[Any], *, now: datetime, limit: int, network: str, only: str | None = None
) -> list[str]:
    """The ids of rows that are due and nobody has, oldest first; locked until the transaction
    ends."""
    values = {"status": transfer.due_status, "now": now, "limit": limit}
    which = {"network": network} if only is None else {"id": only}
    statement = _text(_LOCK, transfer, which=_OF_A_NETWORK if only is None else _OF_ITS_ID)
    return [pk for (pk,) in sql.rows(statement, values | which)]


def unpark(transfer: Transfer[Any]) -> int:
    """Give back what nothing keeps any more; returns how many. A very long list goes on at the
    next run."""
    count = 0
    over = sql.rows(_text(_OVER, transfer), {"development": settings.DEVELOPMENT_ROUTES})
    for reason, network in over:
        values = {"reason": reason, "network": network, "limit": UNPARK_MAX - count}
        count += len(sql.rows(_text(_UNPARK, transfer), values))
    return count


def _park(transfer: Transfer[Any], ids: Collection[str]) -> int:
    """Write down what keeps these locked rows; returns for how many there is something."""
    if not ids:
        return 0
    values = {"ids": arrays.texts(ids), "kind": str(transfer.stopped_by)}
    values |= routes.values(transfer.methods)
    return len(sql.rows(_text(_PARK, transfer), values))


def _text(statement: str, transfer: Transfer[Any], **parts: str) -> str:
    return statement.format(table=transfer.model._meta.db_table, **parts)
