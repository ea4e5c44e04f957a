"""The statement that makes one posting. It calls `balance_post` (posting_in_sets.sql of the
migrations), which locks and updates the balance row and inserts the numbered row that explains the
change, in a single round trip. The application's role can move money only so, or by many postings
at once (`balance.sets`; decisions 0114 and 0138).

Correct inside a transaction and outside of one: it never fails on a repeat, so it never breaks the
transaction around it. Row locks are taken in this order everywhere: rows of funding or payments
first (by id), the balance row last, with the posting as late in the transaction as it can be;
whoever waits for a busy tenant waits for every round trip made while the balance row is held.

Needs READ COMMITTED, PostgreSQL's default: a posting that waited must see what it waited for.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError

from balance import kinds
from balance.errors import BalanceOutOfRange, InsufficientBalance, PostingConflict
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from common import ids
from common.engine import sql
from common.money import AMOUNT_MAX, CURRENCY, format_cents

# The function is called in the select list: in FROM, its row would be written to a tuple store
# first.
POST = """
SELECT
    (posted).sequence, (posted).available, (posted).locked, (posted).pending, (posted).posted_at,
    (posted).notify_below, (posted).notify_rise
FROM (
    SELECT balance_post(
        %(id)s, %(tenant_id)s, %(type)s, %(amount)s, %(pending_delta)s,
        %(source_type)s, %(source_id)s, %(description)s, %(now)s
    ) AS posted
    OFFSET 0  -- or PostgreSQL would call it once for each column
) AS line
"""

CREATE_ROW = "SELECT balance_open(%(id)s, %(tenant_id)s)"

# Another try is needed only if somebody else moved money in between.
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


# What is to be posted: the parameters of POST but `now`, with the deltas that its type makes.
Order = dict[str, Any]


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
    """Post once, however often it is asked for. One round trip, two for a repeat.

    `pending_delta` moves the pending balance in the same statement. Raises InsufficientBalance for
    a lock that available does not cover, PostingConflict for a repeat with another amount,
    BalanceOutOfRange; ValueError for an amount below 1.
    """
    order = order_of(
        kind, ids.new("btx"), tenant_id, amount, source_type, source_id, description, pending_delta
    )
    order["now"] = now
    for _ in range(ATTEMPTS):
        (row,) = sql.rows(POST, order)
        if row[0] is not None:
            return posting_of(order, *row)
        if repeated := repeat_of(order):
            return repeated
        _prepare(order)
    raise number_taken(order)


def order_of(
    kind: PostingType,
    id: str,
    tenant_id: str,
    amount: int,
    source_type: str,
    source_id: str,
    description: str,
    pending_delta: int,
) -> Order:
    """What is to be posted as line `id`. Raises ValueError for an amount that is none."""
    if type(amount) is not int or not 1 <= amount <= AMOUNT_MAX:
        raise ValueError(f"{amount!r} is not an amount of 1 to {AMOUNT_MAX} cents")
    available_delta, locked_delta = kinds.deltas(kind, amount)
    return {
        "id": id,
        "tenant_id": tenant_id,
        "type": kind,
        "amount": amount,
        "available_delta": available_delta,
        "locked_delta": locked_delta,
        "pending_delta": pending_delta,
        "source_type": source_type,
        "source_id": source_id,
        "description": description,
    }


def posting_of(
    order: Order,
    sequence: int,
    available: int,
    locked: int,
    pending: int,
    posted_at: datetime,
    notify_below: int | None,
    notify_rise: bool,
) -> Posting:
    """What was made of `order`; the rest is the balance as the line left it."""
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
    """Give the tenant a balance of zero unless it has one. Waits for others who do that now."""
    sql.rows(CREATE_ROW, {"id": ids.new("bal"), "tenant_id": tenant_id})


def repeat_of(order: Order) -> Posting | None:
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
    """Find out why nothing was posted: create a missing balance row, or refuse what is not covered.

    If neither applies, money arrived in between or somebody else made the row: try again.
    """
    balances = Balance.objects.filter(tenant_id=order["tenant_id"], currency=CURRENCY)
    balance = balances.values("available", "locked", "pending").first()
    if balance is None:
        create_row(tenant_id=order["tenant_id"])
    elif refusal := refusal_of(order, **balance):
        raise refusal


def refusal_of(order: Order, available: int, locked: int, pending: int) -> Exception | None:
    """Why a balance of these cents does not take the order, if it does not: InsufficientBalance,
    BalanceOutOfRange, or IntegrityError for what is not locked or not on its way."""
    name, amount = f"{order['type']} of {order['source_id']}", order["amount"]
    if locked < -order["locked_delta"]:
        return IntegrityError(f"{name}: {amount} cents are not locked")
    if pending < -order["pending_delta"]:
        return IntegrityError(f"{name}: {amount} cents are not on their way")
    if order["type"] is PostingType.LOCK and available < amount:
        shortfall = amount - available
        return InsufficientBalance(
            f"{format_cents(amount)} is {format_cents(shortfall)} more than is available.",
            available_balance=available,
            shortfall=shortfall,
        )
    after = (
        abs(available + order["available_delta"]),
        locked + order["locked_delta"],
        pending + order["pending_delta"],
    )
    is_out_of_range = max(after) > AMOUNT_MAX
    return BalanceOutOfRange("The balance would leave its range.") if is_out_of_range else None


def number_taken(order: Order) -> IntegrityError:
    """A line follows no balance: nothing can be posted for this tenant until somebody looked."""
    return IntegrityError(f"The number after the balance's sequence is taken: {order['tenant_id']}")
