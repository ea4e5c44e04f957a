"""The ledger as double entry: every balance transaction is one debit and one credit.

Bank clearing is an asset: money at the bank. The tenant's accounts are what we owe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Sum

from balance.models import Balance, JournalLeg
from common.money import CURRENCY
from tenants import selectors as tenants

_ROWS_PER_QUERY = 500
_TENANTS_PER_QUERY = 500


@dataclass(frozen=True, kw_only=True)
class AccountTotal:
    """What one account was debited and credited with, in cents."""

    account: str
    debit: int
    credit: int


def trial_balance(tenant_id: str | None = None) -> list[AccountTotal]:
    """Totals per account, of one tenant or of all; debits and credits come to the same sum.

    Reads every row: for reports, not for requests.
    """
    legs = JournalLeg.objects.all()
    if tenant_id is not None:
        legs = legs.filter(tenant_id=tenant_id)
    totals = legs.values("account").annotate(debit=Sum("debit"), credit=Sum("credit"))
    return [
        AccountTotal(
            account=total["account"], debit=int(total["debit"]), credit=int(total["credit"])
        )
        for total in totals.order_by("account")
    ]


def legs(tenant_id: str | None = None) -> Iterator[JournalLeg]:
    """Every leg in order, the debit before the credit. Many short queries, no snapshot held.

    Of each tenant, what was posted when its turn came.
    """
    for each in [tenant_id] if tenant_id is not None else _all_tenants():
        last = Balance.objects.filter(tenant_id=each, currency=CURRENCY).values_list("sequence")
        for (end,) in last:
            yield from _legs_of(each, end)


def _legs_of(tenant_id: str, end: int) -> Iterator[JournalLeg]:
    for start in range(0, end, _ROWS_PER_QUERY):
        rows = JournalLeg.objects.filter(tenant_id=tenant_id, sequence__gt=start)
        until = min(start + _ROWS_PER_QUERY, end)
        yield from rows.filter(sequence__lte=until).order_by("sequence", "-debit")


def _all_tenants() -> Iterator[str]:
    after = ""
    while batch := tenants.ids_after(after, limit=_TENANTS_PER_QUERY):
        yield from batch
        after = batch[-1]
