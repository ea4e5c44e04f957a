"""The audit of the ledger itself: every tenant's chain of rows, and the balance at its end.

A checkpoint per tenant says how far the chain is proven, so an audit reads only what came after.
The full audit also proves the rows below it again (`balance.proofs`), and judges every row of a
tenant where that fails, so that it can say which. Digests use PostgreSQL's own hashes, which hash
partitioning keeps stable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from balance import causes, proofs
from balance.kinds import MOVES, Account
from balance.proofs import DIGEST
from common import audits
from common.audits import Finding, Scope, by_index, snapshot
from common.database_clock import AHEAD
from common.money import CURRENCY
from tenants import selectors as tenants

TENANTS_PER_SNAPSHOT = 500

# `*_at` is the sequence of the first row that breaks a rule. The query starts from the tenant, not
# from the balance row, so that rows without a balance are found too.
AUDIT = f"""
SELECT
    tenant.id AS tenant_id,
    balance.sequence AS balance_sequence,
    balance.available AS balance_available,
    balance.locked AS balance_locked,
    balance.is_low <> coalesce(balance.available + balance.pending < balance.notify_below, false)
        AS is_low_wrong,
    last.available_after AS last_available,
    last.locked_after AS last_locked,
    balance.posted_at <> last.created_at AS is_misdated,
    CASE WHEN balance.posted_at > ballast_now() + {AHEAD}
        THEN date_trunc('second', balance.posted_at - ballast_now())::text END AS ahead,
    proven.sequence AS proven_sequence,
    proven.digest AS proven_digest,
    proven.available AS proven_available,
    proven.locked AS proven_locked,
    chain.*
FROM unnest(%(tenant_ids)s::text[]) AS tenant (id)
LEFT JOIN balance ON balance.tenant_id = tenant.id AND balance.currency = %(currency)s
LEFT JOIN balance_transaction AS last
    ON last.tenant_id = tenant.id AND last.sequence = balance.sequence
LEFT JOIN balance_checkpoint AS proven ON proven.tenant_id = tenant.id
LEFT JOIN balance_checkpoint AS start ON start.tenant_id = tenant.id AND NOT %(full)s
LEFT JOIN balance_transaction AS before
    ON before.tenant_id = tenant.id AND before.sequence = start.sequence
CROSS JOIN LATERAL (
    SELECT
        coalesce(max(step.sequence), start.sequence, 0) AS sequence,
        coalesce(start.available, 0) + coalesce(sum(step.available_delta), 0) AS available,
        coalesce(start.locked, 0) + coalesce(sum(step.locked_delta), 0) AS locked,
        coalesce(start.digest, 0) + coalesce(sum(step.digest), 0) AS digest,
        sum(step.digest) FILTER (WHERE step.sequence <= proven.sequence) AS old_digest,
        sum(step.available_delta) FILTER (WHERE step.sequence <= proven.sequence) AS old_available,
        sum(step.locked_delta) FILTER (WHERE step.sequence <= proven.sequence) AS old_locked,
        min(step.sequence) FILTER (WHERE step.sequence <> step.previous + 1) AS gap_at,
        min(step.sequence) FILTER (
            WHERE step.available_after <> step.previous_available + step.available_delta
            OR step.locked_after <> step.previous_locked + step.locked_delta
        ) AS unchained_at,
        min(step.sequence) FILTER (
            WHERE step.amount < 1
            OR step.available_delta IS DISTINCT FROM step.amount * step.available_sign
            OR step.locked_delta IS DISTINCT FROM step.amount * step.locked_sign
        ) AS misfit_at,
        min(step.sequence) FILTER (
            WHERE step.type = 'lock' AND step.available_after < 0
        ) AS uncovered_at,
        min(step.sequence) FILTER (
            WHERE step.created_at < step.previous_created_at
        ) AS backwards_at
    FROM (
        SELECT
            posted.*,
            kind.available_sign,
            kind.locked_sign,
            lag(posted.sequence, 1, coalesce(start.sequence, 0)) OVER chain AS previous,
            lag(posted.available_after, 1, coalesce(start.available, 0)) OVER chain
                AS previous_available,
            lag(posted.locked_after, 1, coalesce(start.locked, 0)) OVER chain AS previous_locked,
            lag(posted.created_at, 1, before.created_at) OVER chain AS previous_created_at,
            {DIGEST} AS digest
        FROM balance_transaction AS posted
        LEFT JOIN unnest(%(types)s::text[], %(available_signs)s::int[], %(locked_signs)s::int[])
            AS kind (type, available_sign, locked_sign) ON kind.type = posted.type
        WHERE posted.tenant_id = tenant.id AND posted.sequence > coalesce(start.sequence, 0)
        WINDOW chain AS (ORDER BY posted.sequence)
    ) AS step
) AS chain
"""  # noqa: S608  # our own text

# All other checks go through the tenants there are, so a deleted tenant would hide its whole
# ledger.
_VANISHED = """
SELECT balance.tenant_id, 'tenant', 'has a balance, and is not there'
FROM balance
WHERE NOT EXISTS (SELECT FROM tenants_tenant AS tenant WHERE tenant.id = balance.tenant_id)
"""

# A checkpoint never moves backwards: two audits may run at once.
MOVE_CHECKPOINT = """
INSERT INTO balance_checkpoint (tenant_id, sequence, available, locked, digest, proven_at)
VALUES (%(tenant_id)s, %(sequence)s, %(available)s, %(locked)s, %(digest)s, %(now)s)
ON CONFLICT (tenant_id) DO UPDATE
SET sequence = excluded.sequence,
    available = excluded.available,
    locked = excluded.locked,
    digest = excluded.digest,
    proven_at = excluded.proven_at
WHERE balance_checkpoint.sequence < excluded.sequence
"""


@dataclass(frozen=True)
class Audited:
    """One line of AUDIT: what the balance row says, and what the rows of the chain add up to."""

    tenant_id: str
    balance_sequence: int | None
    balance_available: int | None
    balance_locked: int | None
    is_low_wrong: bool | None
    last_available: int | None
    last_locked: int | None
    is_misdated: bool | None
    ahead: str | None
    proven_sequence: int | None
    proven_digest: Decimal | None
    proven_available: int | None
    proven_locked: int | None
    sequence: int
    available: Decimal
    locked: Decimal
    digest: Decimal
    old_digest: Decimal | None
    old_available: Decimal | None
    old_locked: Decimal | None
    gap_at: int | None
    unchained_at: int | None
    misfit_at: int | None
    uncovered_at: int | None
    backwards_at: int | None


def check(scope: Scope, *, now: datetime) -> list[Finding]:
    """Audit the chains in scope and what explains them, some hundred tenants to a snapshot."""
    findings: list[Finding] = []
    if scope.tenant_ids is None:
        findings.extend(audits.found("tenant_vanished", _VANISHED, {}))
    for tenant_ids in batches(scope):
        findings.extend(_check_some(tenant_ids, full=scope.full, now=now))
    return findings


def batches(scope: Scope) -> Iterator[Sequence[str]]:
    """The ids of the tenants in scope, some hundred at a time."""
    if scope.tenant_ids is not None:
        yield scope.tenant_ids
        return
    after = ""
    while batch := tenants.ids_after(after, limit=TENANTS_PER_SNAPSHOT):
        yield batch
        after = batch[-1]


def _check_some(tenant_ids: Sequence[str], *, full: bool, now: datetime) -> list[Finding]:
    """Audit these tenants in one snapshot; move the checkpoint of each one that is sound and
    explained."""
    with snapshot():
        sound = proofs.sound(tenant_ids) if full else set(tenant_ids)
        in_doubt = [each for each in tenant_ids if each not in sound]
        rows = [(row, False) for row in _audit(sorted(sound), full=False)]
        rows += [(row, True) for row in _audit(in_doubt, full=True)]
        findings = list(causes.check(tenant_ids, full=full))
    unexplained = {finding.tenant_id for finding in findings}
    for row, from_the_first in rows:
        found = list(_judge(row, full=from_the_first))
        findings.extend(found)
        findings.extend(_judge_clock(row))
        is_sound = not found and row.tenant_id not in unexplained
        if is_sound and row.sequence > (row.proven_sequence or 0):
            _move_checkpoint(row, now)
    return findings


def _audit(tenant_ids: Sequence[str], *, full: bool) -> list[Audited]:
    moves = MOVES.items()
    with connection.cursor() as cursor, by_index():
        cursor.execute(
            AUDIT,
            {
                "tenant_ids": list(tenant_ids),
                "currency": CURRENCY,
                "full": full,
                "types": [kind.value for kind, _ in moves],
                "available_signs": [move.sign(Account.TENANT_AVAILABLE) for _, move in moves],
                "locked_signs": [move.sign(Account.TENANT_LOCKED) for _, move in moves],
            },
        )
        return [Audited(*row) for row in cursor.fetchall()]


def _judge(row: Audited, *, full: bool) -> Iterator[Finding]:
    """Find what is wrong with one tenant's ledger."""
    for code, sequence, message in (
        ("gap", row.gap_at, "does not follow the row before it"),
        ("unchained", row.unchained_at, "balances after are not those before plus the deltas"),
        ("misfit", row.misfit_at, "deltas do not fit type and amount"),
        ("uncovered_lock", row.uncovered_at, "a lock left available below zero"),
        ("backwards", row.backwards_at, "is dated before its predecessor"),
    ):
        if sequence is not None:
            yield _finding(code, row, f"row {sequence}", message)
    if full:
        yield from _judge_checkpoint(row)
    yield from _judge_balance(row)


def _judge_checkpoint(row: Audited) -> Iterator[Finding]:
    """Compare the checkpoint with the rows below it. The usual audit builds on the checkpoint, so
    there a false one shows as a wrong sum."""
    said = (row.proven_available or 0, row.proven_locked or 0)
    sums = (int(row.old_available or 0), int(row.old_locked or 0))
    if row.old_digest != row.proven_digest:
        message = f"a row up to {row.proven_sequence} was changed after it was proven"
        yield _finding("rewritten", row, "history", message)
    elif said != sums:
        message = f"says {said}, the rows up to {row.proven_sequence} sum to {sums}"
        yield _finding("checkpoint", row, "checkpoint", message)


def _judge_balance(row: Audited) -> Iterator[Finding]:
    """Compare the balance row with the last row of its chain, and with the sum of all."""
    stands = (row.balance_available or 0, row.balance_locked or 0)
    sums = (int(row.available), int(row.locked))
    if (row.balance_sequence or 0) != row.sequence:
        message = f"stands at row {row.balance_sequence}, the last row is {row.sequence}"
        yield _finding("sequence", row, "balance", message)
    if stands != (row.last_available or 0, row.last_locked or 0):
        message = f"is {stands}, its last row left {row.last_available, row.last_locked}"
        yield _finding("last_row", row, "balance", message)
    if row.is_misdated:
        yield _finding("last_row", row, "balance", "has not the date of its last row")
    if row.is_low_wrong:
        yield _finding("low_flag", row, "balance", "is not marked as what it is: low, or not low")
    if stands != sums:
        message = f"is {stands}, the rows sum to {sums}"
        yield _finding("sum", row, "balance", message)


def _judge_clock(row: Audited) -> Iterator[Finding]:
    """Find lines dated after now. A clock was wrong once: later lines take over that date until it
    has come. The numbers are right, so the checkpoint moves on."""
    if row.ahead:
        message = f"its last row is dated {row.ahead} ahead, and so will be each one until then"
        yield _finding("ahead", row, "balance", message)


def _finding(code: str, row: Audited, subject: str, message: str) -> Finding:
    return Finding(code=f"ledger_{code}", tenant_id=row.tenant_id, subject=subject, message=message)


def _move_checkpoint(row: Audited, now: datetime) -> None:
    values: dict[str, Any] = {
        "tenant_id": row.tenant_id,
        "sequence": row.sequence,
        "available": row.available,
        "locked": row.locked,
        "digest": row.digest,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(MOVE_CHECKPOINT, values)
