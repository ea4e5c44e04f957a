"""Sending micro-deposits, and learning what became of them.

Networks are called outside any transaction. What is sent is stored before, under an id by which the
network recognizes a repeat, so a crash in between sends nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

import structlog
from django.db import transaction
from django.db.models import QuerySet

from common import leases
from common.database_clock import judged
from funding.models import FundingSource, SourceVerification
from funding.services import drafts, sources, verifications
from funding.services.corrections import SOURCES
from funding.states import SourceStatus
from networks import registry
from networks.base import (
    Correction,
    EventKind,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkUnavailable,
    PaymentNetwork,
)
from tenants import actors
from tenants.models import TenantStatus
from tenants.switches import SwitchKind, stopped_networks, submittable
from transfers.contract import Effect, MessageHandler, Rule
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent

log = structlog.get_logger(__name__)

BATCH = 50
RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120))
LOOK_FOR_NETWORK_AFTER = timedelta(hours=1)
# Deposits go to an account as it was added, and to nothing else under the same id.
FIRST_VERSION = 1


def process_due(*, now: datetime) -> int:
    """Do everything about verifications that is due; returns how much was done."""
    sent = send_due(now=now)
    return sent + messages.process(DEPOSITS, now=now) + verifications.expire_due(now=now)


@judged
def send_due(*, now: datetime) -> int:
    """Send the deposits that are due; returns how many were claimed.

    Those of a suspended tenant, and those that an operator switch stops, wait. Those of a tenant
    for whom no network debits accounts wait until one does.
    """
    registry.look_again()  # nothing leaves by a route that was just closed
    claimed, since = 0, time.monotonic()
    while rows := leases.claim(_due(), now=now, limit=BATCH, since=since):
        for verification in rows:
            _send(verification, now)
        claimed += len(rows)
    return claimed


def _due() -> QuerySet[SourceVerification]:
    rows = SourceVerification.objects.filter(source__tenant__status=TenantStatus.ACTIVE)
    rows = submittable(rows, kind=SwitchKind.FUNDING, tenant="source__tenant_id")
    # Before the deposits are sent the row names no network, so the tenant's mode decides.
    stopped = registry.modes_served_by(stopped_networks(SwitchKind.FUNDING), Method.ACH_DEBIT)
    return rows.exclude(source__tenant__mode__in=stopped).select_related("source__tenant")


def _send(verification: SourceVerification, now: datetime) -> None:
    source = verification.source
    network = _network(verification)
    if source.status != SourceStatus.PENDING_VERIFICATION:
        leases.finish(verification)
    elif network is None:
        leases.finish(verification, next_attempt_at=now + LOOK_FOR_NETWORK_AFTER)
    elif _write_down(verification, network):
        _hand_over_safely(verification, network, now)


def _network(verification: SourceVerification) -> PaymentNetwork | None:
    """The network that debits accounts of this tenant. What another one may have since an earlier
    try is kept from it."""
    network = drafts.debiting_network(verification.source.tenant.mode)
    known = verification.network
    return network if network and known in ("", network.name) else None


def _write_down(verification: SourceVerification, network: PaymentNetwork) -> bool:
    """Store what is about to be sent, and by which network; False when the lease is no
    longer ours."""
    verification.amounts = verification.amounts or list(network.choose_micro_deposits())
    verification.network = network.name
    held = SourceVerification.objects.filter(
        pk=verification.pk, lease_version=verification.lease_version
    )
    return bool(held.update(amounts=verification.amounts, network=network.name))


def _hand_over_safely(
    verification: SourceVerification, network: PaymentNetwork, now: datetime
) -> None:
    """Send one verification's deposits. An error is logged, so that other verifications are not
    held up."""
    lease_version = verification.lease_version
    try:
        _hand_over(verification, network, now)
    except Exception:
        log.exception("deposits_failed", verification_id=verification.pk)
        verification.lease_version = lease_version  # what was recorded is undone
        _try_again_later(verification, now)


def _try_again_later(verification: SourceVerification, now: datetime) -> None:
    delay = RETRY_AFTER[min(verification.attempts, len(RETRY_AFTER)) - 1]
    leases.finish(verification, next_attempt_at=now + delay)


def _hand_over(verification: SourceVerification, network: PaymentNetwork, now: datetime) -> None:
    account = verification.source.as_of(FIRST_VERSION).in_clear()
    first, second = verification.amounts
    try:
        network.send_micro_deposits(verification.pk, account, (first, second), now=now)
    except NetworkUnavailable:
        _try_again_later(verification, now)
    except (InstructionRefused, InstructionConflict) as refusal:
        log.warning("deposits_refused", verification_id=verification.pk, reason=str(refusal))
        _record_refusal(verification, now)
    else:
        leases.finish(verification, expires_at=now + verifications.VALID_FOR)


@transaction.atomic
def _record_refusal(verification: SourceVerification, now: datetime) -> None:
    FundingSource.objects.select_for_update(no_key=True).get(pk=verification.source_id)
    if leases.finish(verification):
        verifications.fail(source_id=verification.source_id, now=now)


_GOOD_NEWS = Rule(
    moves={status: status for status in SourceStatus.values}, too_early_in=frozenset()
)
_BAD_NEWS = Rule(
    moves={
        **_GOOD_NEWS.moves,
        SourceStatus.PENDING_VERIFICATION: SourceStatus.VERIFICATION_FAILED,
        SourceStatus.ACTIVE: SourceStatus.ERRORED,
    },
    too_early_in=frozenset(),
)


class Deposits(MessageHandler[SourceVerification]):
    """What happens on a network's messages about micro-deposits: only bad news changes anything."""

    id_prefix = "ver_"
    noun = "verification"
    rules = MappingProxyType(
        {
            EventKind.ACCEPTED: _GOOD_NEWS,
            EventKind.SETTLED: _GOOD_NEWS,
            EventKind.FINAL: _GOOD_NEWS,
            EventKind.REJECTED: _BAD_NEWS,
            EventKind.RETURNED: _BAD_NEWS,
        }
    )

    def lock(self, row_id: str) -> SourceVerification | None:
        """Lock the source before its verification, in the order of `verifications.verify`."""
        rows = FundingSource.objects.select_for_update(no_key=True, of=("self",))
        source = rows.filter(verification=row_id).first()
        if source is None:
            return None
        return SourceVerification.objects.select_related("source").get(source=source)

    def correct(
        self,
        row: SourceVerification,
        event: InboundEvent,
        said: Correction | None,
        now: datetime,
    ) -> str:
        return SOURCES.apply(
            event,
            said,
            account_id=row.source_id,
            version=FIRST_VERSION,
            actor=actors.network(event.network),
            now=now,
        )

    def apply(self, effects: Sequence[Effect], now: datetime) -> None:
        for row, _, event in effects:
            sources.note_return(source=row.source, return_code=event.code, now=now)


DEPOSITS = Deposits()
