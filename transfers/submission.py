"""Handing rows to their networks: claim, call, record.

The call happens outside any transaction. A worker that dies in between leaves an expired lease. The
next worker submits the row again under the same id, which the network takes for the same
instruction. A row that may not be sent any more is not submitted again: the network is asked
whether it has it (decision 0105). The same goes for a row that has to wait for money (decision
0118).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from common import leases
from common.database_clock import judged
from common.leases import Leased
from networks import registry
from networks.base import Accepted, InstructionRefused, NetworkUnavailable, PaymentNetwork
from transfers.contract import Row, Transfer

log = structlog.get_logger(__name__)

BATCH = 10
LEASE = timedelta(seconds=20)
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (2, 5, 30, 120, 600))


class _PutAway(Exception):
    """The row is kept back for now, and its lease was given up."""


@judged
def submit_due(
    transfer: Transfer[Row], *, now: datetime, limit: int = 200, only: str | None = None
) -> int:
    """Submit up to `limit` rows that are due; returns how many were claimed. With `only`, the id of
    a row, it submits no other."""
    claimed, since = 0, time.monotonic()
    for page in leases.due(transfer.model, now=now):
        ids = page if only is None else [pk for pk in page if pk == only]
        claimed += _submit_page(transfer, ids, now=now, limit=limit - claimed, since=since)
        if claimed >= limit:
            break
    return claimed


def _submit_page(
    transfer: Transfer[Row], page: list[str], *, now: datetime, limit: int, since: float
) -> int:
    """Claim and submit the rows of a page in batches, because a lease must last longer than its
    batch."""
    claimed = 0
    while claimed < limit:
        due = transfer.due().filter(pk__in=page)
        rows = leases.claim(due, now=now, limit=BATCH, lease=LEASE, since=since)
        for row in rows:
            _submit(transfer, row, now)
        claimed += len(rows)
        if len(rows) < BATCH:
            break
    return claimed


def _submit(transfer: Transfer[Row], row: Row, now: datetime) -> None:
    lease_version = row.lease_version
    try:
        _hand_over(transfer, row, now)
    except _PutAway:
        log.info("submission_held_back", instruction_id=row.pk)
    except NetworkUnavailable as error:
        log.warning("network_unavailable", instruction_id=row.pk, error=str(error))
        _try_again_later(row, now)
    except Exception:  # a conflict of terms or a bug: a person must look, other rows must not wait
        log.exception("submission_failed", instruction_id=row.pk)
        row.lease_version = lease_version  # what was recorded is undone
        _try_again_later(row, now)


def _hand_over(transfer: Transfer[Row], row: Row, now: datetime) -> None:
    try:
        accepted = _receipt(transfer, row, now)
    except InstructionRefused as refusal:
        _record(transfer.refused, row, refusal, now)
    else:
        _record(transfer.accepted, row, accepted, now)


def _receipt(transfer: Transfer[Row], row: Row, now: datetime) -> Accepted:
    """The network's receipt. Raises _PutAway, and what `PaymentNetwork.submit` raises."""
    network = registry.get(row.network)  # type: ignore[attr-defined]  # see TransferRow
    try:
        transfer.require_sendable(row)
    except InstructionRefused:
        if row.attempts > 1 and (accepted := _taken_over_before(network, row)):
            return accepted
        raise
    if transfer.is_short(row):
        if row.attempts > 1 and (accepted := _taken_over_before(network, row)):
            return accepted
        if transfer.keep_back(row, now):
            raise _PutAway
    return network.submit(transfer.instruction(row), now=now)


def _taken_over_before(network: PaymentNetwork, row: Leased) -> Accepted | None:
    """The receipt of an earlier try whose answer was lost; None if it never arrived.

    A call that we gave up may still be on its way. So a network that says it has nothing is
    believed only after the longest pause. Raises NetworkUnavailable until then.
    """
    accepted = network.find(row.pk)
    if accepted is None and row.attempts <= len(RETRY_AFTER):
        raise NetworkUnavailable("an earlier try may still arrive")
    return accepted


def _try_again_later(row: Leased, now: datetime) -> None:
    delay = RETRY_AFTER[min(row.attempts, len(RETRY_AFTER)) - 1]
    leases.finish(row, next_attempt_at=now + delay)


@transaction.atomic
def _record(
    record: Callable[[Row, Any, datetime], None], row: Row, answer: Any, now: datetime
) -> None:
    """Record the network's answer, unless our lease ran out: then its next holder does."""
    if leases.finish(row):
        record(row, answer, now)
