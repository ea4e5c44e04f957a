"""Makes many postings of several tenants at once, in one round trip and one statement: it calls
`balance_post_many` (migrations/sql/posting_in_sets.sql; decision 0138).

What `balance.posting` says of one posting holds for each of a set, as if they were made one after
the other in the order given. An entry that cannot be posted keeps none of the others back.

A set locks its balance rows in the order of `services.LOCK_ROWS` before it writes anything. Sets
then do not wait in a circle, neither for each other nor for single postings, provided that a
transaction makes one set and no posting before it, or locks all balances first (`lock_rows`). What
fell out is posted alone after the commit.

The operator's lines of the same moves may come with a set, in the same round trip.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import IntegrityError

from balance import posting
from balance.errors import PostingConflict
from balance.kinds import PostingType
from balance.models import DESCRIPTION_LENGTH_MAX, SOURCE_LENGTH_MAX, Balance
from balance.operator.posting import BOOK, Booking, book, require_same, values_of
from balance.posting import Order, Posting
from common import ids
from common.engine import arrays, sql
from common.engine.lookups import one_of
from common.engine.postgresql.prepared import Row
from common.money import AMOUNT_MAX, CURRENCY
from tenants.models import Tenant

_POSTED = "sequence, available, locked, pending, posted_at, notify_below, notify_rise"
_POST = """balance_post_many(
    %(ids)s::text::text[], %(tenant_ids)s::text::text[], %(types)s::text::text[],
    %(amounts)s::text::bigint[], %(pending_deltas)s::text::bigint[],
    %(source_types)s::text::text[], %(source_ids)s::text::text[],
    %(descriptions)s::text::text[], {now}
)"""
POST_MANY = f"SELECT {_POSTED} FROM {_POST.format(now='%(now)s')}"  # noqa: S608  # our own text
# The postings have their moment from the booking, so they are made after it.
BOOK_AND_POST_MANY = f"""
WITH booked AS MATERIALIZED ({BOOK}, %(now)s::timestamptz AS moment)
SELECT {_POSTED}, different
FROM booked CROSS JOIN LATERAL {_POST.format(now="booked.moment")}
"""  # noqa: S608


class Entry(NamedTuple):
    """One posting of a set, in cents: the arguments of a single one, but its time.

    `pending_delta` moves the pending balance in the same statement.
    """

    kind: PostingType
    tenant_id: str
    amount: int
    source_type: str
    source_id: str
    description: str
    pending_delta: int = 0


class Refused(NamedTuple):
    """An entry that was not posted. `error` is what the same posting alone would raise:
    InsufficientBalance, BalanceOutOfRange, PostingConflict, IntegrityError or ValueError."""

    error: Exception


def post(
    entries: Sequence[Entry], bookings: Sequence[Booking] = (), *, now: datetime
) -> list[Posting | Refused]:
    """Write the operator's lines, and post what can be posted; what became of each entry, in their
    order.

    A repeat is the first posting, with `already_posted`. One round trip; two more for each entry
    that was not posted. Raises as `balance.operator.posting.book` does.
    """
    new = ids.several("btx", len(entries))
    looked_at = [_order_of(entry, id) for entry, id in zip(entries, new, strict=True)]
    orders = [order for order in looked_at if isinstance(order, dict)]
    outcomes = iter(_post(orders, bookings, now))
    return [next(outcomes) if isinstance(order, dict) else order for order in looked_at]


def _order_of(entry: Entry, id: str) -> Order | Refused:
    """What is to be posted. An entry that PostgreSQL cannot take would end the whole set."""
    kind, tenant_id, amount, source_type, source_id, description, pending_delta = entry
    try:
        order = posting.order_of(
            kind, id, tenant_id, amount, source_type, source_id, description, pending_delta
        )
        if abs(pending_delta) > AMOUNT_MAX:
            raise ValueError(f"{pending_delta!r} is more than pending can change by")
        _require_storable(description, DESCRIPTION_LENGTH_MAX)
        _require_storable(source_type, SOURCE_LENGTH_MAX)
        _require_storable(source_id, SOURCE_LENGTH_MAX)
    except ValueError as error:
        return Refused(error)
    return order


def _require_storable(text: str, length_max: int) -> None:
    if len(text) > length_max or "\0" in text:
        raise ValueError(f"{text!r} is longer than {length_max} characters, or has a NUL")


def _post(
    orders: Sequence[Order], bookings: Sequence[Booking], now: datetime
) -> list[Posting | Refused]:
    if not orders:
        book(bookings, now=now)
        return []
    rows = _rows(orders, bookings, now)
    if not rows:
        unknown = open_balances({order["tenant_id"] for order in orders})
        if unknown:
            return _without(unknown, orders, bookings, now)
        rows = _rows(orders, bookings, now)
    if all(row[0] is not None for row in rows):
        return [posting.posting_of(order, *row) for order, row in zip(orders, rows, strict=True)]
    return _outcomes(orders, rows)


def _outcomes(orders: Sequence[Order], rows: Sequence[Row]) -> list[Posting | Refused]:
    posted = {
        _cause_of(order): place
        for place, (order, row) in enumerate(zip(orders, rows, strict=True))
        if row[0] is not None
    }
    return [
        _not_posted(order, *row[1:4], is_first=posted.get(_cause_of(order), -1) > place)
        if row[0] is None
        else posting.posting_of(order, *row)
        for place, (order, row) in enumerate(zip(orders, rows, strict=True))
    ]


def _cause_of(order: Order) -> tuple[str, ...]:
    """What a posting is known by."""
    return order["tenant_id"], order["source_type"], order["source_id"], order["type"]


def _rows(orders: Sequence[Order], bookings: Sequence[Booking], now: datetime) -> list[Row]:
    """A row per order; none if a tenant has no balance row yet, and then nothing was posted."""
    values = {
        "ids": arrays.texts([order["id"] for order in orders]),
        "tenant_ids": arrays.texts([order["tenant_id"] for order in orders]),
        "types": arrays.texts([order["type"] for order in orders]),
        "amounts": arrays.plain([order["amount"] for order in orders]),
        "pending_deltas": arrays.plain([order["pending_delta"] for order in orders]),
        "source_types": arrays.texts([order["source_type"] for order in orders]),
        "source_ids": arrays.texts([order["source_id"] for order in orders]),
        "descriptions": arrays.texts([order["description"] for order in orders]),
        "now": now,
    }
    if not bookings:
        return sql.rows(POST_MANY, values)
    rows = sql.rows(BOOK_AND_POST_MANY, values | values_of(bookings))
    if rows:
        require_same(rows[0][-1])
    return [row[:-1] for row in rows]


def open_balances(tenant_ids: Collection[str]) -> set[str]:
    """Give each tenant a balance row, in the order in which a set locks them, while none is
    locked; the tenants that do not exist."""
    has_balance = Balance.objects.filter(one_of("tenant_id", tenant_ids), currency=CURRENCY)
    missing = set(tenant_ids) - set(has_balance.values_list("tenant_id", flat=True))
    known = set(Tenant.objects.filter(one_of("pk", missing)).values_list("pk", flat=True))
    for tenant_id in sorted(known):
        posting.create_row(tenant_id=tenant_id)
    return missing - known


def _without(
    unknown: Collection[str],
    orders: Sequence[Order],
    bookings: Sequence[Booking],
    now: datetime,
) -> list[Posting | Refused]:
    known = [order for order in orders if order["tenant_id"] not in unknown]
    others = iter(_post(known, bookings, now))
    return [
        Refused(IntegrityError(f"There is no tenant {order['tenant_id']}"))
        if order["tenant_id"] in unknown
        else next(others)
        for order in orders
    ]


def _not_posted(
    order: Order, available: int, locked: int, pending: int, *, is_first: bool
) -> Posting | Refused:
    """The earlier posting of a repeat, or why the balance that the order met did not take it.

    `is_first`: a later entry of the set is the same and was posted, so this one is no repeat.
    """
    try:
        if not is_first and (repeated := posting.repeat_of(order)):
            return repeated
    except PostingConflict as error:
        return Refused(error)
    refusal = posting.refusal_of(order, available, locked, pending)
    return Refused(refusal or posting.number_taken(order))
