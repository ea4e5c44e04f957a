"""Micro-deposits of which one failed: the others are taken back while their network has not sent
them.

The credits come first. The debit stays where a deposit went out and did not come back, because it
fetches that deposit.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from common import sweeps
from funding.errors import AuthorizationRequired
from funding.models import DepositEntry
from funding.states import DepositStatus
from networks import registry
from networks.base import Method, NetworkUnavailable

_BATCH = 200
_OUT = (DepositStatus.SENT, DepositStatus.COMPLETED)


def withdraw_due(*, now: datetime) -> int:
    """Ask the networks to give back what should not go out any more; returns how many were asked
    for. What a network gives back it reports like everything else."""
    return sweeps.each(
        list(_in_vain()[:_BATCH]), lambda row: _withdraw(row, now), failure="deposit_not_withdrawn"
    )


def _in_vain() -> QuerySet[DepositEntry]:
    """What networks have of verifications that cannot succeed any more, the credits first."""
    others = DepositEntry.objects.filter(verification=OuterRef("verification"))
    failed = others.filter(status=DepositStatus.FAILED).exclude(
        failure_code=AuthorizationRequired.code  # only the debit was left out
    )
    rows = DepositEntry.objects.filter(status=DepositStatus.SENT, withdrawal_asked_at=None)
    return rows.filter(Exists(failed)).order_by("verification_id", "part")


def _withdraw(row: DepositEntry, now: datetime) -> int:
    """Not inside a transaction: it calls the network."""
    network = registry.find(row.network)
    if network is None or _has_to_fetch(row):
        return 0
    try:
        network.withdraw(row.pk, now=now)
    except NetworkUnavailable:
        return 0
    return DepositEntry.objects.filter(pk=row.pk).update(withdrawal_asked_at=now)


def _has_to_fetch(row: DepositEntry) -> bool:
    """Whether it is the debit, and a deposit is out."""
    if row.method != Method.ACH_DEBIT:
        return False
    deposits = DepositEntry.objects.filter(verification=row.verification_id, status__in=_OUT)
    return deposits.exclude(method=Method.ACH_DEBIT).exists()
