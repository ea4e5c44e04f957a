"""Payments that wait for money are started oldest first, each exactly once, and none before an
older one. Payments that are held back because available is negative go before all of them
(`shortage`).

A worker locks the row of the oldest payment. A second worker waits for that lock and does not skip
to the next payment. The posting that locks the money decides whether there is enough. Lock order:
the payment first, the balance row last.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from balance import selectors as balances
from balance import services as ledger
from balance.errors import InsufficientBalance
from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine.wakeups import enqueue_on_commit
from payments.models import Payment
from payments.services import approvals, lifecycle, shortage
from payments.states import PaymentStatus
from tenants.actors import SYSTEM
from tenants.models import TenantStatus

EXPIRED_CODE = "wait_expired"
_BATCH = 500


def queue(tenant_id: str) -> QuerySet[Payment]:
    """The tenant's waiting payments, oldest first."""
    waiting = Payment.objects.filter(tenant_id=tenant_id, status=PaymentStatus.WAITING_FOR_FUNDS)
    return waiting.order_by("created_at", "pk")


def runnable(tenant_id: str | OuterRef, *, now: datetime) -> QuerySet[Payment]:
    """The payments of the queue that wait only for money. One that staff hold does not stop the
    others."""
    return _runnable(now).filter(tenant_id=tenant_id).order_by("created_at", "pk")


def wake(*, tenant_id: str, **_news: Any) -> None:
    """Receiver of `available_balance_rose`: look at the queue after the credit is committed."""
    enqueue_on_commit("payments.run_waiting", tenant_id=tenant_id)


@by(WORKER)
@judged
def run_due(*, now: datetime) -> int:
    """Start what can be started for every tenant whose oldest payment is covered, and release what
    need not be held back any more; returns how many started.

    Payments of a suspended tenant wait until it is released.
    """
    covered_ids = covered(now).values_list("tenant_id", flat=True)
    tenant_ids = covered_ids.union(shortage.releasable().values_list("tenant_id", flat=True))[
        :_BATCH
    ]
    return sweeps.each(
        list(tenant_ids),
        lambda tenant_id: run(tenant_id=tenant_id, now=now),
        failure="waiting_payments_not_run",
    )


def covered(now: datetime) -> QuerySet[Payment]:
    """The oldest waiting payment of each tenant, where available covers it."""
    older = runnable(OuterRef("tenant_id"), now=now).values("pk")[:1]
    return _runnable(now).filter(
        balances.covers(tenant_id=OuterRef("tenant_id"), amount=OuterRef("amount")),
        pk=Subquery(older),
    )


@judged
def run(*, tenant_id: str, now: datetime) -> int:
    """Release what was held back, then start the tenant's waiting payments until the oldest is not
    covered; returns how many.

    The next sweep continues a very long queue.
    """
    started = shortage.release(tenant_id=tenant_id, now=now)
    while started < _BATCH and start_oldest(tenant_id=tenant_id, now=now):
        started += 1
    _listen_no_longer_than_needed(tenant_id)
    return started


@transaction.atomic
def start_oldest(*, tenant_id: str, now: datetime) -> bool:
    """Start the oldest waiting payment if available covers it; returns whether it did."""
    # Without SKIP LOCKED, which would let a younger payment pass the oldest one.
    rows = runnable(tenant_id, now=now).select_for_update(no_key=True, of=("self",))
    oldest = rows.first()
    if oldest is None or balances.summary(tenant_id).available < oldest.amount:
        return False
    try:
        lifecycle.move(payment=oldest, target=PaymentStatus.CREATED, actor=SYSTEM, now=now)
    except InsufficientBalance:  # somebody was faster between the look and the posting
        return False
    return True


@by(WORKER)
@judged
def expire_due(*, now: datetime) -> int:
    """Fail payments that waited too long; returns how many. Held ones are left until
    their release."""
    late = _late(now).order_by("waits_until").values_list("pk", flat=True)
    return sweeps.each(
        list(late[:_BATCH]),
        lambda payment_id: _expire(payment_id, now),
        failure="waiting_payment_not_expired",
    )


def _late(now: datetime) -> QuerySet[Payment]:
    return Payment.objects.filter(
        status=PaymentStatus.WAITING_FOR_FUNDS, held_at=None, waits_until__lte=now
    )


def _runnable(now: datetime) -> QuerySet[Payment]:
    return Payment.objects.filter(
        status=PaymentStatus.WAITING_FOR_FUNDS,
        held_at=None,
        waits_until__gt=now,
        tenant__status=TenantStatus.ACTIVE,
    )


@transaction.atomic
def _expire(payment_id: str, now: datetime) -> bool:
    # Checked again under the row's lock: a release from a hold gives a payment more time.
    rows = _late(now).select_for_update(no_key=True, skip_locked=True)
    payment = rows.filter(pk=payment_id).first()
    if payment is None:  # canceled, held, given more time, or another worker has it
        return False
    approvals.supersede(payment=payment, by=SYSTEM, now=now)
    lifecycle.move(
        payment=payment,
        target=PaymentStatus.FAILED,
        actor=SYSTEM,
        now=now,
        reason="waited too long",
        failure_code=EXPIRED_CODE,
        failure_message="The balance never covered it while it waited. Top up and pay again.",
    )
    return True


@transaction.atomic
def _listen_no_longer_than_needed(tenant_id: str) -> None:
    """Stop the announcements of credits when no payment waits for money and none is held back.

    Whoever adds a payment to the queue takes the balance row's lock too, so that none is missed.
    """
    if _wants_news(tenant_id):
        return
    ledger.lock_row(tenant_id=tenant_id)
    if not _wants_news(tenant_id):
        ledger.set_notify_rise(tenant_id=tenant_id, wanted=False)


def _wants_news(tenant_id: str) -> bool:
    return queue(tenant_id).exists() or shortage.held_back(tenant_id).exists()
