"""What was paid out by the hour: counted as payments are ordered, given back as they fail.

Rows are written only under the lock of the tenant's balance, after which they can be read, too:
so payments that come at once are counted one after the other, and nobody waits in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from common.engine import arrays, sql
from payments.caps import Window, hour_of
from payments.models import Payment, PaymentTotal
from payments.states import PaymentStatus

# Payments that count no longer: their money came back.
GONE = (PaymentStatus.FAILED, PaymentStatus.CANCELED, PaymentStatus.RETURNED)

_USED = """
SELECT scope,
    coalesce(sum(amount) FILTER (WHERE hour >= %(day)s), 0)::bigint,
    coalesce(sum(payments) FILTER (WHERE hour >= %(day)s), 0)::bigint,
    min(hour) FILTER (WHERE hour >= %(day)s AND payments > 0),
    sum(amount)::bigint, sum(payments)::bigint, min(hour) FILTER (WHERE payments > 0),
    coalesce(sum(unasked) FILTER (WHERE hour >= %(day)s), 0)::bigint
FROM payments_paymenttotal
WHERE tenant_id = %(tenant_id)s AND scope = ANY(%(scopes)s::text::text[]) AND hour >= %(month)s
GROUP BY scope
"""
_COUNT = """
INSERT INTO payments_paymenttotal AS total (tenant_id, scope, hour, payments, amount, unasked)
SELECT %(tenant_id)s, scope, %(hour)s, 1, %(amount)s::bigint, %(unasked)s::bigint
FROM unnest(%(scopes)s::text::text[]) AS scope
ON CONFLICT (tenant_id, scope, hour) DO UPDATE SET
    payments = total.payments + 1,
    amount = total.amount + excluded.amount,
    unasked = total.unasked + excluded.unasked
"""
_GIVE_BACK = """
UPDATE payments_paymenttotal AS total SET
    payments = total.payments - gone.payments,
    amount = total.amount - gone.amount,
    unasked = total.unasked - gone.unasked
FROM (
    SELECT tenant_id, scope, hour, count(*) AS payments, sum(amount) AS amount,
        sum(unasked) AS unasked
    FROM unnest(
        %(tenant_ids)s::text::text[], %(scopes)s::text::text[], %(hours)s::text::timestamptz[],
        %(amounts)s::text::bigint[], %(unasked)s::text::bigint[]
    ) AS line (tenant_id, scope, hour, amount, unasked)
    GROUP BY tenant_id, scope, hour
) AS gone
WHERE (total.tenant_id, total.scope, total.hour) = (gone.tenant_id, gone.scope, gone.hour)
"""


class Used(NamedTuple):
    """What counts in one window. `amount` is cents; `since` is the first hour in which something
    was paid."""

    amount: int = 0
    payments: int = 0
    since: datetime | None = None


class Usage(NamedTuple):
    """What counts of one scope. `unasked`: cents of the day for which nobody was asked."""

    day: Used = Used()
    month: Used = Used()
    unasked: int = 0

    def within(self, window: Window) -> Used:
        return self.day if window == Window.DAY else self.month


NOTHING = Usage()


def used(*, tenant_id: str, scopes: Collection[str], now: datetime) -> Mapping[str, Usage]:
    """What counts of these scopes; one of which nothing counts is left out. One query.

    Whoever decides by it holds the lock of the tenant's balance.
    """
    values = {
        "tenant_id": tenant_id,
        "scopes": arrays.texts(scopes),
        "day": Window.DAY.first_hour(now),
        "month": Window.MONTH.first_hour(now),
    }
    return MappingProxyType(
        {
            scope: Usage(Used(*row[:3]), Used(*row[3:6]), row[6])
            for scope, *row in sql.rows(_USED, values)
        }
    )


def count(payment: Payment) -> None:
    """Count a new payment in all its scopes. The caller holds the lock of the tenant's balance."""
    values = {
        "tenant_id": payment.tenant_id,
        "scopes": arrays.texts(payment.counted_for),
        "hour": hour_of(payment.created_at),
        "amount": payment.amount,
        "unasked": _unasked(payment),
    }
    sql.rows(_COUNT, values)


def is_given_back(payment: Payment) -> bool:
    """Whether a payment that has just moved to where it is counts no longer."""
    return payment.status in GONE and bool(payment.counted_for)


def give_back(payments: Sequence[Payment]) -> None:
    """Take these payments, each of which counted until now, out of the totals. The caller holds the
    locks of their tenants' balances."""
    lines = [(payment, scope) for payment in payments for scope in payment.counted_for]
    if not lines:
        return
    values = {
        "tenant_ids": arrays.texts([payment.tenant_id for payment, _ in lines]),
        "scopes": arrays.texts([scope for _, scope in lines]),
        "hours": arrays.plain([hour_of(payment.created_at) for payment, _ in lines]),
        "amounts": arrays.plain([payment.amount for payment, _ in lines]),
        "unasked": arrays.plain([_unasked(payment) for payment, _ in lines]),
    }
    sql.rows(_GIVE_BACK, values)


def frees_at(
    *,
    tenant_id: str,
    scope: str,
    window: Window,
    now: datetime,
    amount: int,
    payments: int,
) -> datetime | None:
    """When so many cents and payments that count now will count no longer; None: never."""
    hours = PaymentTotal.objects.filter(
        tenant_id=tenant_id, scope=scope, hour__gte=window.first_hour(now)
    ).order_by("hour")
    for hour, cents, number in hours.values_list("hour", "amount", "payments"):
        amount, payments = amount - cents, payments - number
        if amount <= 0 and payments <= 0:
            return window.frees_at(hour)
    return None


def _unasked(payment: Payment) -> int:
    return 0 if payment.requires_confirmation else payment.amount
