"""The one statement that moves money: it locks the balance row, inserts the numbered row that
explains the change, and updates the balance, in a single round trip.

Correct inside a transaction and outside of one: it never fails on a repeat, so it never breaks the
transaction around it. Row locks are taken in this order everywhere: rows of funding or payments
first (by id), the balance row last, with the posting as late in the transaction as it can be;
whoever waits for a busy tenant waits for every round trip made while the balance row is held.

Needs READ COMMITTED, PostgreSQL's default: a posting that waited must see what it waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError

from balance import kinds
from balance.errors import BalanceOutOfRange, InsufficientBalance, PostingConflict
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from common import ids, sql
from common.constraints import violated
from common.money import AMOUNT_MAX, CURRENCY, format_cents

# The inner select waits for the balance row and reads its newest version; the two other steps build
# on it. What available or locked does not cover and a posting made before insert nothing, and then
# nothing is updated: the CHECKs of a line come before ON CONFLICT, so no line may be tried that
# they refuse. ON CONFLICT names no index: with a name, PostgreSQL looks up which index of the
# partition is meant for every posting (a tenth of its work).
POST = """
WITH posted AS (
    INSERT INTO balance_transaction (
        id, tenant_id, sequence, type, amount, currency, available_delta, locked_delta,
        available_after, locked_after, source_type, source_id, description, created_at
    )
    SELECT
        %(id)s, %(tenant_id)s, sequence + 1, %(type)s::text, %(amount)s, %(currency)s,
        %(available_delta)s, %(locked_delta)s,
        available + %(available_delta)s, locked + %(locked_delta)s,
        %(source_type)s, %(source_id)s, %(description)s, greatest(%(now)s, posted_at)
    FROM (
        SELECT available, locked, sequence, posted_at
        FROM balance
        WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
            AND (%(type)s::text <> 'lock' OR available >= %(amount)s)
            AND locked >= -%(locked_delta)s::bigint
        FOR NO KEY UPDATE
    ) AS held
    ON CONFLICT DO NOTHING
    RETURNING sequence, available_after, locked_after, created_at
)
UPDATE balance
SET available = posted.available_after,
    locked = posted.locked_after,
    pending = balance.pending + %(pending_delta)s,
    is_low = coalesce(
        posted.available_after + balance.pending + %(pending_delta)s < balance.notify_below, false
    ),
    sequence = posted.sequence,
    posted_at = posted.created_at
FROM posted
WHERE balance.tenant_id = %(tenant_id)s AND balance.currency = %(currency)s
RETURNING
    balance.sequence, balance.available, balance.locked, balance.pending, balance.posted_at,
    balance.notify_below, balance.notify_rise
"""

CREATE_ROW = """
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)
VALUES (%(id)s, %(tenant_id)s, %(currency)s, 0, 0, 0, 0)
ON CONFLICT (tenant_id, currency) DO NOTHING
"""

# Each try after the first needs somebody else to have moved money in between.
ATTEMPTS = 10

_REPEATED = (
    "id",
    "sequence",
    "type",
    "amount",
    "available_delta",
    "locked_delta",
    "available_after",
    "locked_after",
    "created_at",
)


# The parameters of POST.
Order = Mapping[str, Any]


class Posting(NamedTuple):
    """What is posted, in cents.

    `already_posted`: by an earlier call, and nothing changed now; `pending_after` is then the
    pending balance of now. `is_low`: this lowered available below the balance's `notify_below`.
    `is_rise`: this raised available, and the balance says to `notify_rise`.
    """

    id: str
    sequence: int
    type: PostingType
    amount: int
    available_delta: int
    locked_delta: int
    available_after: int
    locked_after: int
    pending_after: int
    created_at: datetime
    already_posted: bool = False
    is_low: bool = False
    is_rise: bool = False


def post(
    kind: PostingType,
    *,
    tenant_id: str,
    amount: int,
    source_type: str,
    source_id: str,
    description: str,
    now: datetime,
    pending_delta: int = 0,
) -> Posting:
    """Post a movement once, however often it is asked for. One round trip, two for a repeat.

    `pending_delta` moves the pending balance in the same statement. Raises InsufficientBalance for
    a lock that available does not cover, PostingConflict for a repeat with another amount,
    BalanceOutOfRange; ValueError for an amount below 1.
    """
    if type(amount) is not int or not 1 <= amount <= AMOUNT_MAX:
        raise ValueError(f"{amount!r} is not an amount of 1 to {AMOUNT_MAX} cents")
    available_delta, locked_delta = kinds.deltas(kind, amount)
    return _post(
        {
            "id": ids.new("btx"),
            "tenant_id": tenant_id,
            "type": kind,
            "amount": amount,
            "currency": CURRENCY,
            "available_delta": available_delta,
            "locked_delta": locked_delta,
            "pending_delta": pending_delta,
            "source_type": source_type,
            "source_id": source_id,
            "description": description,
            "now": now,
        }
    )


def _post(order: Order) -> Posting:
    for _ in range(ATTEMPTS):
        if rows := _execute(order):
            return _posting(order, *rows[0])
        if repeated := _repeat(order):
            return repeated
        _prepare(order)
    raise IntegrityError(f"The number after the balance's sequence is taken: {order['tenant_id']}")


def _posting(
    order: Order,
    sequence: int,
    available: int,
    locked: int,
    pending: int,
    posted_at: datetime,
    notify_below: int | None,
    notify_rise: bool,
) -> Posting:
    """What POST made of `order`; the rest is what it returned, the balance as it left it."""
    available_delta = order["available_delta"]
    return Posting(
        order["id"],
        sequence,
        order["type"],
        order["amount"],
        available_delta,
        order["locked_delta"],
        available,
        locked,
        pending,
        posted_at,
        is_low=available_delta < 0 and notify_below is not None and available < notify_below,
        is_rise=available_delta > 0 and notify_rise,
    )


def create_row(*, tenant_id: str) -> None:
    """Give the tenant a balance of zero, unless it has one. Waits for whoever is doing the same."""
    sql.rows(CREATE_ROW, {"id": ids.new("bal"), "tenant_id": tenant_id, "currency": CURRENCY})


def _execute(order: Order) -> list[tuple[Any, ...]]:
    """Run the statement. No row: no balance row yet, not covered, or posted before."""
    try:
        return sql.rows(POST, order)
    except IntegrityError as error:
        if violated(error) == "balance_available_in_range":
            raise BalanceOutOfRange("The balance would leave its range.") from error
        raise


def _repeat(order: Order) -> Posting | None:
    """The posting that an earlier call made of this order. Raises PostingConflict."""
    row = (
        BalanceTransaction.objects.filter(
            tenant_id=order["tenant_id"],
            source_id=order["source_id"],
            source_type=order["source_type"],
            type=order["type"],
        )
        .values(*_REPEATED)
        .first()
    )
    if row is None:
        return None
    if row["amount"] != order["amount"]:
        raise PostingConflict(
            f"{order['type']} of {order['source_id']} is posted with {row['amount']} cents,"
            f" not {order['amount']}."
        )
    balance = Balance.objects.values("pending").get(tenant_id=order["tenant_id"], currency=CURRENCY)
    kind = PostingType(row.pop("type"))
    return Posting(**row, type=kind, pending_after=balance["pending"], already_posted=True)


def _prepare(order: Order) -> None:
    """See why nothing was posted: give the tenant a balance row, or refuse what is not covered.

    Neither: money arrived in between, or somebody else made the row. It is worth another try.
    """
    balances = Balance.objects.filter(tenant_id=order["tenant_id"], currency=CURRENCY)
    balance = balances.values("available", "locked").first()
    if balance is None:
        create_row(tenant_id=order["tenant_id"])
    elif balance["locked"] < -order["locked_delta"]:
        raise IntegrityError(
            f"{order['type']} of {order['source_id']}: {order['amount']} cents are not locked"
        )
    elif order["type"] is PostingType.LOCK and balance["available"] < order["amount"]:
        available = balance["available"]
        shortfall = order["amount"] - available
        raise InsufficientBalance(
            f"{format_cents(order['amount'])} is {format_cents(shortfall)} more than is available.",
            available_balance=available,
            shortfall=shortfall,
        )
