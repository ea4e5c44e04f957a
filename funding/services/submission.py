"""Handing reserved funding to its network: claim, call, record.

The call happens outside any transaction. A worker that dies in between leaves an expired lease,
and the next one submits again under the same id, which the network takes for the same instruction.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.db import transaction

from common import leases
from funding.methods import NETWORK_METHOD
from funding.models import FundingTransaction
from funding.services import lifecycle, sources
from funding.states import FundingStatus
from networks import registry
from networks.base import (
    Accepted,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    NetworkUnavailable,
)
from tenants import actors
from tenants.models import TenantStatus

log = structlog.get_logger(__name__)

BATCH = 10
LEASE = timedelta(seconds=20)
RETRY_AFTER = tuple(timedelta(seconds=seconds) for seconds in (2, 5, 30, 120, 600))


def submit_due(*, now: datetime, limit: int = 200) -> int:
    """Submit up to `limit` reserved fundings that are due; returns how many were claimed.

    Funding of a suspended tenant waits for its release.
    """
    claimed = 0
    while claimed < limit:
        due = FundingTransaction.objects.filter(
            status=FundingStatus.RESERVED, tenant__status=TenantStatus.ACTIVE
        ).select_related("source")
        rows = leases.claim(due, now=now, limit=BATCH, lease=LEASE)
        for funding in rows:
            _submit(funding, now)
        claimed += len(rows)
        if len(rows) < BATCH:
            break
    return claimed


def _submit(funding: FundingTransaction, now: datetime) -> None:
    network = registry.get(funding.network)
    try:
        accepted = network.submit(_instruction(funding), now=now)
    except NetworkUnavailable as error:
        log.warning("network_unavailable", funding_id=funding.pk, error=str(error))
        _try_again_later(funding, now)
    except InstructionRefused as refusal:
        _record_refusal(funding, refusal, now)
    except InstructionConflict:
        log.exception("instruction_conflict", funding_id=funding.pk)
        _try_again_later(funding, now)
    else:
        _record_acceptance(funding, accepted, now)


def _instruction(funding: FundingTransaction) -> Instruction:
    return Instruction(
        id=funding.pk,
        method=NETWORK_METHOD[funding.method],
        amount=funding.amount,
        currency=funding.currency,
        account=sources.bank_account(funding.source),
        description=funding.description,
    )


def _try_again_later(funding: FundingTransaction, now: datetime) -> None:
    delay = RETRY_AFTER[min(funding.attempts, len(RETRY_AFTER)) - 1]
    leases.settle(funding, next_attempt_at=now + delay)


@transaction.atomic
def _record_acceptance(funding: FundingTransaction, accepted: Accepted, now: datetime) -> None:
    if not leases.settle(funding):
        return  # our lease ran out; whoever holds it now records the same receipt
    lifecycle.move(
        funding=funding,
        target=FundingStatus.PENDING,
        actor=actors.network(funding.network),
        now=now,
        network_reference=accepted.reference,
        trace_number=accepted.trace_number,
    )


@transaction.atomic
def _record_refusal(
    funding: FundingTransaction, refusal: InstructionRefused, now: datetime
) -> None:
    if not leases.settle(funding):
        return
    lifecycle.move(
        funding=funding,
        target=FundingStatus.FAILED,
        actor=actors.network(funding.network),
        now=now,
        reason=refusal.reason,
        failure_code=refusal.code,
        failure_message=refusal.reason[:300],
    )
