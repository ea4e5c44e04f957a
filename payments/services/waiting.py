"""Payments that wait for money: oldest first, each exactly once, none ahead of an older one. What
is held back because available is negative goes before all of them (`shortage`).

The row lock on the oldest is the tenant's turnstile: a second worker waits for it instead of
skipping to the next. Whether the money is there, the lock posting decides. Lock order is kept:
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
    """Those of the queue that only money keeps. One that staff hold holds up nobody."""
    return _runnable(now).filter(tenant_id=tenant_id).order_by("created_at", "pk")


def wake(*, tenant_id: str, **_news: Any) -> None:
    """Receiver of `available_balance_rose`: look at the queue once the credit is committed."""
    enqueue_on_commit("payments.run_waiting", tenant_id=tenant_id)


@judged
def run_due(*, now: datetime) -> int:
    """Run what can run for every tenant whose oldest payment is covered, and for those whose
    payments are held back no longer; returns how many started.

    Those of a suspended tenant wait for its release.
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
    """The oldest waiting payment of each tenant, where what is available covers it."""
    older = runnable(OuterRef("tenant_id"), now=now).values("pk")[:1]
    return _runnable(now).filter(
        balances.covers(tenant_id=OuterRef("tenant_id"), amount=OuterRef("amount")),
        pk=Subquery(older),
    )


@judged
def run(*, tenant_id: str, now: datetime) -> int:
    """Let go what was held back, then start the tenant's waiting payments until the oldest is not
    covered; returns how many.

    A very long queue goes on at the next sweep.
    """
    started = shortage.release(tenant_id=tenant_id, now=now)
    while started < _BATCH and start_oldest(tenant_id=tenant_id, now=now):
        started += 1
    _listen_no_longer_than_needed(tenant_id)
    return started


@transaction.atomic
def start_oldest(*, tenant_id: str, now: datetime) -> bool:
    """Start the oldest waiting payment if what is available covers it."""
    # Not SKIP LOCKED: that would let the next one pass.
    rows = runnable(tenant_id, now=now).select_for_update(no_key=True, of=("self",))
    oldest = rows.first()
    if oldest is None or balances.summary(tenant_id).available < oldest.amount:
        return False
    try:
        lifecycle.move(payment=oldest, target=PaymentStatus.CREATED, actor=SYSTEM, now=now)
    except InsufficientBalance:  # somebody was faster between the look and the posting
        return False
    return True


@judged
def expire_due(*, now: datetime) -> int:
    """Give up payments that waited too long; returns how many. Held ones wait for their release."""
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
    # All is asked again under the row's lock: whoever releases a held one gives it more time.
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
    """Credits announce themselves only while somebody waits, or something is held back.

    Whoever joins the queue takes the balance row's lock too, so nobody is forgotten.
    """
    if _wants_news(tenant_id):
        return
    ledger.lock_row(tenant_id=tenant_id)
    if not _wants_news(tenant_id):
        ledger.set_notify_rise(tenant_id=tenant_id, wanted=False)


def _wants_news(tenant_id: str) -> bool:
    return queue(tenant_id).exists() or shortage.held_back(tenant_id).exists()
