"""The ledger as double entry: every balance transaction is one debit and one credit.

Bank clearing is an asset: money at the bank. The tenant's accounts are what we owe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from balance import selectors
from balance.models import Balance, JournalLeg
from common.money import CURRENCY

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


def legs(
    tenant_id: str | None = None, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[JournalLeg]:
    """Every leg from `since` to before `until`, in order, the debit before the credit.

    Many short queries, so no snapshot is held: the legs of each tenant are those posted when it is
    read.
    """
    for each, last in _chains(tenant_id, since):
        start = selectors.first_sequence(each, since, pass_equal=False) if since else 1
        end = selectors.first_sequence(each, until, pass_equal=False) - 1 if until else last
        yield from _legs_of(each, start, min(end, last))


def _legs_of(tenant_id: str, first: int, last: int) -> Iterator[JournalLeg]:
    for start in range(first, last + 1, _ROWS_PER_QUERY):
        rows = JournalLeg.objects.filter(tenant_id=tenant_id, sequence__gte=start)
        end = min(start + _ROWS_PER_QUERY - 1, last)
        yield from rows.filter(sequence__lte=end).order_by("sequence", "-debit")


def _chains(tenant_id: str | None, since: datetime | None) -> Iterator[tuple[str, int]]:
    """Each tenant with the number of its last posting, without those silent since `since`."""
    balances = Balance.objects.filter(currency=CURRENCY, sequence__gt=0).order_by("tenant_id")
    if tenant_id is not None:
        balances = balances.filter(tenant_id=tenant_id)
    if since is not None:
        balances = balances.filter(posted_at__gte=since)
    after = ""
    while part := list(
        balances.filter(tenant_id__gt=after).values_list("tenant_id", "sequence")[
            :_TENANTS_PER_QUERY
        ]
    ):
        yield from part
        after = part[-1][0]
