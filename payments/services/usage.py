"""Which recipients, API keys and people use the most of the limits on money out, for people."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from common.engine import sql
from payments.caps import CapScope, Window
from payments.models import Payment
from payments.services.totals import Usage, Used

EACH = 5

_MOST_USED = """
SELECT kind, name, day_amount, day_payments, day_since, amount, payments, since
FROM (
    SELECT split_part(scope, ':', 1) AS kind, substr(scope, strpos(scope, ':') + 1) AS name,
        coalesce(sum(amount) FILTER (WHERE hour >= %(day)s), 0)::bigint AS day_amount,
        coalesce(sum(payments) FILTER (WHERE hour >= %(day)s), 0)::bigint AS day_payments,
        min(hour) FILTER (WHERE hour >= %(day)s AND payments > 0) AS day_since,
        sum(amount)::bigint AS amount, sum(payments)::bigint AS payments,
        min(hour) FILTER (WHERE payments > 0) AS since,
        row_number() OVER (
            PARTITION BY split_part(scope, ':', 1) ORDER BY sum(amount) DESC, scope
        ) AS place
    FROM payments_paymenttotal
    WHERE tenant_id = %(tenant_id)s AND scope <> %(all)s AND hour >= %(month)s
    GROUP BY scope
    HAVING sum(payments) > 0
) AS ranked
WHERE place <= %(each)s
ORDER BY kind, place
"""


class ScopeUsage(NamedTuple):
    """What counts of one recipient, key or person. `name` is its fingerprint, or its id."""

    scope: CapScope
    name: str
    usage: Usage


def most_used(*, tenant_id: str, now: datetime) -> list[ScopeUsage]:
    """Those with the most cents in 30 days, at most `EACH` of a kind. One query."""
    values = {
        "tenant_id": tenant_id,
        "all": str(CapScope.TENANT),
        "day": Window.DAY.first_hour(now),
        "month": Window.MONTH.first_hour(now),
        "each": EACH,
    }
    return [
        ScopeUsage(CapScope(kind), name, Usage(Used(*rest[:3]), Used(*rest[3:])))
        for kind, name, *rest in sql.rows(_MOST_USED, values)
    ]


def last_paid(fingerprints: list[str], *, tenant_id: str, now: datetime) -> list[Payment]:
    """The last payment of 30 days to each of these accounts, with its recipient. One query."""
    paid = Payment.objects.filter(
        tenant_id=tenant_id,
        created_at__gte=Window.MONTH.first_hour(now),
        recipient__fingerprint__in=fingerprints,
    )
    newest = paid.order_by("recipient__fingerprint", "-created_at", "-pk")
    return list(newest.distinct("recipient__fingerprint").select_related("recipient"))
