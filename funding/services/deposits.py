"""Micro-deposits: storing their three entries, sending them, and learning what became of them.

A verification becomes three entries in one transaction, as soon as there is a network for them.
From then on they are transfers like all others (`funding.deposit_transfer`).
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
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.models import DepositEntry, FundingSource, SourceVerification
from funding.models.deposits import METHOD_OF_PART, of_verification
from funding.services import deposit_withdrawals, drafts, sources, verifications
from funding.services.corrections import SOURCES
from funding.states import DepositStatus, SourceStatus
from networks import registry
from networks.base import Correction, EventKind, Method, NetworkUnavailable, PaymentNetwork
from tenants import actors
from tenants.models import TenantStatus
from tenants.switches import SwitchKind, stopped_networks, submittable
from transfers import submission
from transfers.contract import Effect, MessageHandler, Rule
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent

log = structlog.get_logger(__name__)

BATCH = 50
LOOK_FOR_NETWORK_AFTER = timedelta(hours=1)
ASK_AGAIN_AFTER = timedelta(minutes=1)
FIRST_VERSION = 1


@by(WORKER)
def process_due(*, now: datetime) -> int:
    """Do everything about verifications that is due; returns how much was done."""
    sent = send_due(now=now)
    heard = messages.process(DEPOSIT_ENTRIES, now=now) + messages.process(DEPOSITS, now=now)
    taken_back = deposit_withdrawals.withdraw_due(now=now)
    return sent + heard + taken_back + verifications.expire_due(now=now)


def send_due(*, now: datetime) -> int:
    """Store the entries that are due, and send what is; returns for how many verifications they
    were stored."""
    stored = store_due(now=now)
    submission.submit_due(DEPOSIT_ENTRIES, now=now)
    return stored


@judged
def store_due(*, now: datetime) -> int:
    """Turn verifications that are due into their entries; returns how many were claimed.

    Those of a suspended tenant, and those that an operator switch stops, wait. Those of a tenant
    for whom no network debits accounts wait until one does.
    """
    registry.look_again()  # nothing leaves by a route that was just closed
    claimed, since = 0, time.monotonic()
    while rows := leases.claim(_due(), now=now, limit=BATCH, since=since):
        for verification in rows:
            _store_safely(verification, now)
        claimed += len(rows)
    return claimed


def _due() -> QuerySet[SourceVerification]:
    rows = SourceVerification.objects.filter(source__tenant__status=TenantStatus.ACTIVE)
    rows = submittable(rows, kind=SwitchKind.FUNDING, tenant="source__tenant_id")
    # Before its entries are stored the row names no network, so the tenant's mode decides.
    stopped = registry.modes_served_by(stopped_networks(SwitchKind.FUNDING), Method.ACH_DEBIT)
    return rows.exclude(source__tenant__mode__in=stopped).select_related("source__tenant")


def _store_safely(verification: SourceVerification, now: datetime) -> None:
    """Store one verification's entries. An error is logged, so that other verifications are not
    held up."""
    network = drafts.debiting_network(verification.source.tenant.mode)
    if network is None:
        leases.finish(verification, next_attempt_at=now + LOOK_FOR_NETWORK_AFTER)
        return
    lease_version = verification.lease_version
    try:
        if not _was_sent_whole(verification, now):
            _store(verification, network, now)
    except Exception as error:
        if not isinstance(error, NetworkUnavailable):
            log.exception("deposits_failed", verification_id=verification.pk)
        verification.lease_version = lease_version  # what was recorded is undone
        leases.finish(verification, next_attempt_at=now + ASK_AGAIN_AFTER)


def _was_sent_whole(verification: SourceVerification, now: datetime) -> bool:
    """Whether an older release has handed it over as one instruction, whose answer was lost.

    Raises NetworkUnavailable.
    """
    known = registry.find(verification.network) if verification.network else None
    if known is None or known.find(verification.pk) is None:
        return False
    leases.finish(verification, expires_at=now + verifications.VALID_FOR)
    return True


@transaction.atomic
def _store(verification: SourceVerification, network: PaymentNetwork, now: datetime) -> None:
    """Store the three entries, due, unless the account no longer waits for them."""
    rows = FundingSource.objects.select_for_update(no_key=True)
    source = rows.get(pk=verification.source_id)
    if source.status != SourceStatus.PENDING_VERIFICATION:
        leases.finish(verification)
        return
    terms = network.capabilities.verification
    amounts = verification.amounts or list(drafts.choose_deposits(terms))
    if not leases.finish(verification, amounts=amounts, network=""):
        return
    DepositEntry.objects.bulk_create(
        DepositEntry(
            verification=verification,
            tenant_id=source.tenant_id,
            source=source,
            part=part,
            amount=amount,
            method=METHOD_OF_PART[part],
            status=DepositStatus.CREATED,
            network=network.name,
            next_attempt_at=now,
            created_at=now,
            updated_at=now,
        )
        for part, amount in of_verification(verification)
    )


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


class WholeDeposits(MessageHandler[SourceVerification]):
    """Messages about deposits that older releases handed over as one instruction: only bad news
    changes anything."""

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


DEPOSITS = WholeDeposits()
