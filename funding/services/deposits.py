"""Sending micro-deposits and hearing what became of them.

Networks are called outside any transaction. The amounts are stored before they are sent, under
an id the network takes for the same instruction, so a crash in between sends nothing twice.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import structlog
from django.db import transaction

from common import leases
from funding.models import FundingSource, SourceVerification
from funding.services import sources, verifications
from funding.states import SourceStatus
from networks import registry
from networks.base import (
    EventKind,
    InstructionConflict,
    InstructionRefused,
    NetworkEvent,
    NetworkUnavailable,
    PaymentNetwork,
)
from networks.inbox.models import InboundEvent, InboundOutcome
from tenants.models import TenantStatus

log = structlog.get_logger(__name__)

ID_PREFIX = "ver_"
BATCH = 50
RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120))
LOOK_FOR_NETWORK_AFTER = timedelta(hours=1)


def process_due(*, now: datetime) -> int:
    """Everything about verifications that is due; returns how much was done."""
    return send_due(now=now) + receive(now=now) + verifications.expire_due(now=now)


def send_due(*, now: datetime) -> int:
    """Send the deposits that are due; returns how many were claimed.

    A suspended tenant's wait for its release, a live tenant's for a live network.
    """
    due = SourceVerification.objects.filter(
        source__tenant__status=TenantStatus.ACTIVE
    ).select_related("source__tenant")
    claimed = 0
    while rows := leases.claim(due, now=now, limit=BATCH):
        for verification in rows:
            _send(verification, now)
        claimed += len(rows)
    return claimed


def receive(*, now: datetime) -> int:
    """Take in what the networks say about deposits; returns how many messages were new."""
    new = 0
    for network in registry.active():
        events = network.poll(now=now, limit=BATCH, id_prefix=ID_PREFIX)
        new += sum(_take_in(event, now) for event in events)
        network.acknowledge(event.id for event in events)
    return new


def _send(verification: SourceVerification, now: datetime) -> None:
    source = verification.source
    network = registry.for_mode(source.tenant.mode)
    if source.status != SourceStatus.PENDING_VERIFICATION:
        leases.settle(verification)
    elif network is None:
        leases.settle(verification, next_attempt_at=now + LOOK_FOR_NETWORK_AFTER)
    elif amounts := _amounts(verification, network):
        _hand_over(verification, network, amounts, now)


def _amounts(verification: SourceVerification, network: PaymentNetwork) -> tuple[int, int] | None:
    """The stored amounts, chosen now if they were not; None when the lease is no longer ours."""
    if not verification.amounts:
        verification.amounts = list(network.choose_micro_deposits())
        held = SourceVerification.objects.filter(
            pk=verification.pk, lease_version=verification.lease_version
        )
        if not held.update(amounts=verification.amounts):
            return None
    first, second = verification.amounts
    return first, second


def _hand_over(
    verification: SourceVerification,
    network: PaymentNetwork,
    amounts: tuple[int, int],
    now: datetime,
) -> None:
    account = verification.source.in_clear()
    try:
        network.send_micro_deposits(verification.pk, account, amounts, now=now)
    except NetworkUnavailable:
        delay = RETRY_AFTER[min(verification.attempts, len(RETRY_AFTER)) - 1]
        leases.settle(verification, next_attempt_at=now + delay)
    except (InstructionRefused, InstructionConflict) as refusal:
        log.warning("deposits_refused", verification_id=verification.pk, reason=str(refusal))
        _record_refusal(verification, now)
    else:
        leases.settle(verification, expires_at=now + verifications.VALID_FOR)


@transaction.atomic
def _record_refusal(verification: SourceVerification, now: datetime) -> None:
    if leases.settle(verification):
        verifications.fail(source_id=verification.source_id, now=now)


@transaction.atomic
def _take_in(event: NetworkEvent, now: datetime) -> bool:
    """Store a message and act on it; False for one that was here before."""
    source = FundingSource.objects.filter(verification=event.instruction_id).first()
    _stored, is_new = InboundEvent.objects.get_or_create(
        network=event.network,
        event_id=event.id,
        defaults={
            "instruction_id": event.instruction_id,
            "kind": event.kind,
            "amount": event.amount,
            "currency": event.currency,
            "code": event.code,
            "reason": event.reason[:300],
            "reference": event.reference,
            "occurred_at": event.occurred_at,
            "received_at": now,
            "decided_at": now,
            "outcome": InboundOutcome.APPLIED if source else InboundOutcome.REVIEW,
            "note": "" if source else "no such verification",
        },
    )
    if source and is_new and event.kind in {EventKind.RETURNED, EventKind.REJECTED}:
        sources.note_return(source=source, return_code=event.code, now=now)
    return is_new
