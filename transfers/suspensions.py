"""What a suspended tenant's networks have not sent yet is taken back (decision 0157).

A suspension keeps rows from being handed over. Those that a network has and that wait there, for a
cut-off or a limit, would leave with its next file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks import registry
from networks.base import Custody, NetworkUnavailable, PaymentNetwork, Withdrawal
from tenants.models import TenantStatus
from transfers import handlers
from transfers.contract import Transfer

_ASKED_TOGETHER = 1_000


@by(WORKER)
def withdraw_due(*, now: datetime) -> int:
    """Ask the networks to give back what suspended tenants have waiting there; returns how much
    they did. What a network gives back it reports like everything else.

    Not inside a transaction: it calls networks.
    """
    return sum(_withdraw(transfer, now) for transfer in handlers.transfers())


def _withdraw(transfer: Transfer[Any], now: datetime) -> int:
    return sweeps.each(
        list(_waiting(transfer)),
        lambda found: found[0].withdraw(found[1], now=now) is Withdrawal.WITHDRAWN,
        failure="transfer_not_withdrawn",
    )


def _waiting(transfer: Transfer[Any]) -> Iterator[tuple[PaymentNetwork, str]]:
    """Rows that have not left, each with the network that has it."""
    for name, row_ids in _taken_over(transfer).items():
        network = registry.find(name)
        if network is None:
            continue
        for start in range(0, len(row_ids), _ASKED_TOGETHER):
            some = row_ids[start : start + _ASKED_TOGETHER]
            yield from ((network, row_id) for row_id in _ours(network, some))


def _taken_over(transfer: Transfer[Any]) -> Mapping[str, Sequence[str]]:
    """The rows of suspended tenants that their networks have, by network."""
    model: Any = transfer.model
    rows = model._default_manager.filter(
        status=transfer.taken_over_status, tenant__status=TenantStatus.SUSPENDED
    )
    found = defaultdict[str, list[str]](list)
    for row_id, network in rows.values_list("pk", "network").order_by("pk"):
        found[network].append(row_id)
    return found


def _ours(network: PaymentNetwork, row_ids: Sequence[str]) -> list[str]:
    try:
        custody = network.custody(row_ids)
    except NetworkUnavailable:
        return []  # asked again at the next sweep
    return [row_id for row_id, where in custody.items() if where is Custody.OURS]
