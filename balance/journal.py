"""The ledger as double entry: every balance transaction is one debit and one credit.

Bank clearing is the other leg of what the tenants' accounts say we owe. The operator's lines split
it, so that it comes to zero over both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from balance import selectors
from balance.models import Balance, JournalLeg, OperatorLine
from balance.operator.accounts import PAIRS, Step, name_of
from balance.operator.totals import totals as operator_totals
from common.money import CURRENCY

_ROWS_PER_QUERY = 500
_TENANTS_PER_QUERY = 500
OPERATOR = "operator_"  # what the operator's lines are called by, before their numbers


@dataclass(frozen=True, kw_only=True)
class AccountTotal:
    """What one account was debited and credited with, in cents."""

    account: str
    debit: int
    credit: int


def trial_balance(tenant_id: str | None = None) -> list[AccountTotal]:
    """Totals per account, of one tenant, or of all with the operator; debits and credits come to
    the same sum.

    Reads every row: for reports, not for requests.
    """
    legs = JournalLeg.objects.all()
    if tenant_id is not None:
        legs = legs.filter(tenant_id=tenant_id)
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for account, debit, credit in legs.values_list("account").annotate(Sum("debit"), Sum("credit")):
        found[account][0] += int(debit)
        found[account][1] += int(credit)
    for total in operator_totals() if tenant_id is None else ():
        found[total.name][0] += total.debit
        found[total.name][1] += total.credit
    return [
        AccountTotal(account=account, debit=debit, credit=credit)
        for account, (debit, credit) in sorted(found.items())
    ]


def legs(
    tenant_id: str | None = None, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[JournalLeg]:
    """Every leg from `since` to before `until`, in order, the debit before the credit: of one
    tenant, or of all and then of the operator.

    Many short queries, so no snapshot is held: the legs of each tenant are those posted when it is
    read.
    """
    for each, last in _chains(tenant_id, since):
        start = selectors.first_sequence(each, since, pass_equal=False) if since else 1
        end = selectors.first_sequence(each, until, pass_equal=False) - 1 if until else last
        yield from _legs_of(each, start, min(end, last))
    if tenant_id is None:
        yield from _legs_of_operator(since, until)


def _legs_of(tenant_id: str, first: int, last: int) -> Iterator[JournalLeg]:
    for start in range(first, last + 1, _ROWS_PER_QUERY):
        rows = JournalLeg.objects.filter(tenant_id=tenant_id, sequence__gte=start)
        end = min(start + _ROWS_PER_QUERY - 1, last)
        yield from rows.filter(sequence__lte=end).order_by("sequence", "-debit")


def _legs_of_operator(since: datetime | None, until: datetime | None) -> Iterator[JournalLeg]:
    lines = OperatorLine.objects.order_by("pk")
    lines = lines.filter(created_at__gte=since) if since else lines
    lines = lines.filter(created_at__lt=until) if until else lines
    after = 0
    while part := list(lines.filter(pk__gt=after)[:_ROWS_PER_QUERY]):
        for line in part:
            yield from _pair_of(line)
        after = part[-1].pk


def _pair_of(line: OperatorLine) -> Iterator[JournalLeg]:
    """The two legs of a line of the operator, in the words of the tenants' legs."""
    pair, name = PAIRS[Step(line.step)], f"{OPERATOR}{line.pk}"
    for account, debit, credit in (
        (pair.debited, line.amount, 0),
        (pair.credited, 0, line.amount),
    ):
        yield JournalLeg(
            id=f"{name}:{'debit' if debit else 'credit'}",
            transaction_id=name,
            tenant_id=line.tenant_id,
            sequence=line.pk,
            type=line.step,
            account=name_of(account, line.rail),
            debit=debit,
            credit=credit,
            currency=CURRENCY,
            source_type=line.source_type,
            source_id=line.source_id,
            description=f"{Step(line.step).label}, banking day {line.day}",
            created_at=line.created_at,
        )


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
