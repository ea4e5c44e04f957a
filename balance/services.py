"""The only writers of the ledger. Money is cents; every function may run inside the caller's
transaction, and posting belongs at its end (`balance.posting` says why, and the lock order).

A posting is known by (tenant, source_type, source_id, type). Asked for again with the same amount
it changes nothing and returns the first one, with `already_posted`; with another amount it
raises PostingConflict.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal, NotRequired, TypedDict, Unpack

import structlog
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.transaction import TransactionManagementError

from balance import posting, sets
from balance.errors import BalanceOutOfRange, InvalidAdjustment
from balance.kinds import PostingType
from balance.models import DESCRIPTION_LENGTH_MAX, Adjustment
from balance.operator import posting as operator_posting
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.posting import Posting
from balance.selectors import Funds
from balance.sets import Entry, Refused
from balance.signals import available_balance_fell, available_balance_rose
from common import ids
from common.database.constraints import violated
from common.engine import arrays, sql
from common.money import AMOUNT_MAX, CURRENCY
from tenants.actors import Actor
from tenants.services import audit

log = structlog.get_logger(__name__)

ADJUSTMENT = "adjustment"

LOCK_ROW = """
SELECT available, pending, locked, currency, notify_below
FROM balance
WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
FOR NO KEY UPDATE
"""

# The order in which everybody locks several balances, also `balance_post_many`: that of the bytes
# of the tenants' ids, whose columns have the collation "C" whatever the database has.
LOCK_ROWS = """
SELECT tenant_id FROM balance
WHERE tenant_id = ANY(%(tenant_ids)s::text::text[]) AND currency = %(currency)s
ORDER BY tenant_id
FOR NO KEY UPDATE {wait}
"""

OVERDRAWN = """
SELECT tenant_id, available < 0 FROM balance
WHERE tenant_id = ANY(%(tenant_ids)s::text::text[]) AND currency = %(currency)s
FOR NO KEY UPDATE {wait}
"""

CHANGE_PENDING = """
SELECT available, pending, locked, currency, notify_below
FROM balance_change_pending(%(tenant_id)s, %(delta)s)
"""

SET_NOTIFY_BELOW = """
UPDATE balance
SET notify_below = %(amount)s,
    is_low = coalesce(available + pending < %(amount)s, false)
WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
RETURNING available, pending, locked, currency, notify_below
"""


SET_NOTIFY_RISE = """
UPDATE balance
SET notify_rise = %(wanted)s
WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
RETURNING available, pending, locked, currency, notify_below
"""

NOTE_LOW = """
UPDATE balance
SET low_noted_until = %(until)s
WHERE tenant_id = %(tenant_id)s AND currency = %(currency)s
RETURNING available, pending, locked, currency, notify_below
"""

END_OF_WAIT = """
UPDATE balance
SET low_noted_until = %(now)s
WHERE tenant_id = ANY(%(tenant_ids)s::text::text[]) AND low_noted_until > %(now)s
"""


class PostingArguments(TypedDict):
    """The arguments of a posting, all by keyword.

    `amount` is at least 1. `pending_delta` moves the pending balance in the same statement.
    """

    tenant_id: str
    amount: int
    source_type: str
    source_id: str
    description: str
    now: datetime
    pending_delta: NotRequired[int]


def credit(**arguments: Unpack[PostingArguments]) -> Posting:
    """Money arrives: available rises."""
    return _post(PostingType.CREDIT, arguments)


def debit(**arguments: Unpack[PostingArguments]) -> Posting:
    """Money is taken back by a bank or by staff: available falls, below zero if it must."""
    return _post(PostingType.DEBIT, arguments)


def lock(**arguments: Unpack[PostingArguments]) -> Posting:
    """Set money aside for a payment: available falls, locked rises. Raises InsufficientBalance."""
    return _post(PostingType.LOCK, arguments)


def unlock(**arguments: Unpack[PostingArguments]) -> Posting:
    """Give locked money back: locked falls, available rises."""
    return _post(PostingType.UNLOCK, arguments)


def settle(**arguments: Unpack[PostingArguments]) -> Posting:
    """Locked money has left: locked falls."""
    return _post(PostingType.SETTLEMENT, arguments)


def post_many(
    entries: Sequence[Entry], bookings: Sequence[Booking] = (), *, now: datetime
) -> list[Posting | Refused]:
    """Make many postings of several tenants at once; what became of each entry, in their order.

    Each is posted as it would be alone after those before it. A repeat is the first posting, with
    `already_posted`; what cannot be posted is Refused with the error that it would raise alone, and
    keeps none of the others back. A posting is announced once all are made, with the balance that
    it left itself.

    Rows of fundings and payments are locked before, the balances here in the order of their
    tenants; so make one set in a transaction, as late as it can be, and post what fell out alone
    once it is committed. Sets of 50 to 200 cost the least per posting; a tenant's balance is locked
    while the whole set is posted.

    The operator's lines of these moves are written first, by `bookings`, as `book` does it.
    """
    outcomes = sets.post(entries, bookings, now=now)
    for entry, outcome in zip(entries, outcomes, strict=True):
        if isinstance(outcome, Posting) and (outcome.is_low or outcome.is_rise):
            _announce(outcome, entry.tenant_id, entry.source_type, now)
    return outcomes


def post_all(
    entries: Sequence[Entry], bookings: Sequence[Booking] = (), *, now: datetime
) -> list[Posting]:
    """`post_many` where one is not to be without the others: raises the error of the first that is
    refused, in a transaction that the caller must undo then."""
    postings = []
    for outcome in post_many(entries, bookings, now=now):
        if isinstance(outcome, Refused):
            raise outcome.error
        postings.append(outcome)
    return postings


def book(bookings: Sequence[Booking], *, now: datetime) -> None:
    """Write lines of the operator, each once by its source and step. `post_many` does so for those
    that belong to postings.

    Raises PostingConflict where one is there with another amount, rail or tenant.
    """
    operator_posting.book(bookings, now=now)


def change_pending(*, tenant_id: str, delta: int) -> Funds:
    """Change the pending balance: funding set out (`delta` > 0), or ended without a posting
    (`delta` < 0).

    Not safe to repeat: call it in the transaction of the status change that causes it. Raises
    BalanceOutOfRange.
    """
    try:
        return _on_balance_row(CHANGE_PENDING, tenant_id, delta=delta)
    except IntegrityError as error:
        if delta > 0 and violated(error) == "balance_pending_in_range":
            raise BalanceOutOfRange("More would be on its way than a balance holds.") from error
        raise


def lock_row(*, tenant_id: str) -> Funds:
    """The balance, with its row locked until the caller's transaction ends.

    Raises TransactionManagementError outside of a transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError("lock_row holds nothing outside of a transaction")
    return _on_balance_row(LOCK_ROW, tenant_id)


def lock_rows(*, tenant_ids: Collection[str], wait: bool = True) -> set[str]:
    """Lock the balances of several tenants until the caller's transaction ends, in the one order.

    Whoever changes several balances in more than one step does this first, holding none; one set
    of postings locks its own. `wait=False`: only those that nobody else has locked. Returns the
    tenants whose balances it did not lock: somebody else has them, or the tenants do not exist.
    Raises TransactionManagementError outside of a transaction.
    """
    if not connection.in_atomic_block:
        raise TransactionManagementError("lock_rows holds nothing outside of a transaction")
    sets.open_balances(tenant_ids)
    values = {"tenant_ids": arrays.texts(tenant_ids), "currency": CURRENCY}
    rows = sql.rows(LOCK_ROWS.format(wait="" if wait else "SKIP LOCKED"), values)
    return set(tenant_ids).difference(tenant_id for (tenant_id,) in rows)


def overdrawn(*, tenant_ids: Collection[str]) -> dict[str, bool]:
    """Of each tenant whether its available balance is negative, once what is being posted now is
    posted: the rows are locked for the look. Nothing is said of a tenant whose row somebody keeps
    locked for too long, nor of those that would be waited for after it.

    One statement, and one more for each row that was locked: whoever waits for one holds no other.
    """
    found = _look_whether_overdrawn(tenant_ids, wait="SKIP LOCKED") if tenant_ids else {}
    for tenant_id in sorted(set(tenant_ids) - set(found)):
        try:
            with transaction.atomic():
                looked_at = _look_whether_overdrawn([tenant_id], wait="")
        except OperationalError:
            log.exception("balance_locked_for_too_long", tenant_id=tenant_id)
            break
        found[tenant_id] = looked_at.get(tenant_id, False)
    return found


def _look_whether_overdrawn(tenant_ids: Collection[str], *, wait: str) -> dict[str, bool]:
    values = {"tenant_ids": arrays.texts(tenant_ids), "currency": CURRENCY}
    return dict(sql.rows(OVERDRAWN.format(wait=wait), values))


def set_notify_below(*, tenant_id: str, amount: int | None) -> Funds:
    """Announce (`available_balance_fell`) postings that leave less than `amount`; None: never."""
    return _on_balance_row(SET_NOTIFY_BELOW, tenant_id, amount=amount)


def set_notify_rise(*, tenant_id: str, wanted: bool) -> Funds:
    """Announce (`available_balance_rose`) postings that raise what is available, or stop it."""
    return _on_balance_row(SET_NOTIFY_RISE, tenant_id, wanted=wanted)


def note_low(*, tenant_id: str, until: datetime | None) -> None:
    """Leave the tenant out of `selectors.low_tenants` until then: its low balance is known. None:
    the balance is not low any more."""
    _on_balance_row(NOTE_LOW, tenant_id, until=until)


def look_at_low_again(*tenant_ids: str, now: datetime) -> None:
    """End the waits that `note_low` began, because their reason is over. For several tenants the
    caller holds the balance rows."""
    sql.rows(END_OF_WAIT, {"tenant_ids": arrays.texts(tenant_ids), "now": now})


@transaction.atomic
def adjust(
    *,
    tenant_id: str,
    type: Literal["credit", "debit"],
    amount: int,
    reason: str,
    actor: Actor,
    now: datetime,
    id: str | None = None,
) -> Posting:
    """Correct a balance, audited. The tenant sees `reason` on the statement.

    This does not ask for a second person: the desk goes through `balance.proposals`, which does. A
    debit may leave available below zero. Raises InvalidAdjustment, BalanceOutOfRange.
    """
    if not 1 <= amount <= AMOUNT_MAX:
        raise InvalidAdjustment("The amount is out of range.", field="amount")
    if not 1 <= len(reason := reason.strip()) <= DESCRIPTION_LENGTH_MAX:
        raise InvalidAdjustment("A reason of 1 to 200 characters is needed.", field="reason")
    adjustment = Adjustment.objects.create(
        id=id or ids.new("adj"),
        tenant_id=tenant_id,
        type=type,
        amount=amount,
        reason=reason,
        actor_type=actor.type,
        actor_id=actor.id,
        created_at=now,
    )
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action=f"balance.{type}",
        subject_id=adjustment.pk,
        details={"amount": amount, "reason": reason},
        now=now,
    )
    step = Step.ADJUSTED_UP if type == "credit" else Step.ADJUSTED_DOWN
    book([Booking(step, amount, "", ADJUSTMENT, adjustment.pk, tenant_id)], now=now)
    return _post(
        PostingType(type),
        {
            "tenant_id": tenant_id,
            "amount": amount,
            "source_type": ADJUSTMENT,
            "source_id": adjustment.pk,
            "description": reason,
            "now": now,
        },
    )


def _post(kind: PostingType, arguments: PostingArguments) -> Posting:
    posted = posting.post(kind, **arguments)
    if posted.is_low or posted.is_rise:
        _announce(posted, arguments["tenant_id"], arguments["source_type"], arguments["now"])
    return posted


def _announce(posted: Posting, tenant_id: str, source_type: str, now: datetime) -> None:
    news = {
        "tenant_id": tenant_id,
        "available": posted.available_after,
        "source_type": source_type,
        "now": now,
    }
    if posted.is_low:
        available_balance_fell.send(sender=None, **news)
    if posted.is_rise:
        available_balance_rose.send(sender=None, **news)


def _on_balance_row(statement: str, tenant_id: str, **values: int | datetime | None) -> Funds:
    """Run `statement` on the tenant's balance row, creating it if it is missing."""
    parameters = {"tenant_id": tenant_id, "currency": CURRENCY, **values}
    row = sql.first(statement, parameters)
    if row is None:
        posting.create_row(tenant_id=tenant_id)
        (row,) = sql.rows(statement, parameters)
    return Funds(*row)
