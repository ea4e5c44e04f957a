"""Debits whose authorization ended after their network took them over: they are taken back while it
has not sent them.

An entry may wait for days before it leaves: for a prenote, for a limit, or because the bank did not
take its file. A debit that left stays (decision 0134).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from funding.models import FundingTransaction
from funding.services import debit_authorizations
from funding.states import FundingStatus
from networks import registry
from networks.base import NetworkUnavailable, Withdrawal

# For so long networks are asked: each time as if it were the first.
_ASKED_FOR = timedelta(days=60)
_BATCH = 200
# The holder still agrees, by another record; or may take an account away without taking back a
# word about a debit that was asked for before.
_STANDS = (debit_authorizations.REPLACED, debit_authorizations.ACCOUNT_REMOVED)


@by(WORKER)
def withdraw_due(*, now: datetime) -> int:
    """Ask the networks to give back debits that are not authorized any more; returns how many they
    did. What a network gives back it reports like everything else."""
    return sweeps.each(
        list(_not_authorized(now)[:_BATCH]),
        lambda row: _withdraw(row, now),
        failure="debit_not_withdrawn",
    )


def _not_authorized(now: datetime) -> QuerySet[FundingTransaction]:
    rows = FundingTransaction.objects.filter(
        status=FundingStatus.PENDING,
        authorized__authorization__ended_at__gte=now - _ASKED_FOR,
    )
    rows = rows.exclude(authorized__authorization__ended_because__in=_STANDS)
    # What ended last is asked first: it is not kept back by many debits that have left.
    return rows.order_by("-authorized__authorization__ended_at", "-pk")


def _withdraw(row: FundingTransaction, now: datetime) -> bool:
    """Not inside a transaction: it calls the network."""
    network = registry.find(row.network)
    if network is None:
        return False
    try:
        return network.withdraw(row.pk, now=now) is Withdrawal.WITHDRAWN
    except NetworkUnavailable:
        return False
