"""Payments that are held back because available is negative (decision 0118).

Their money was set aside before a bank took past funding back. Held back is not a status: the row
stays `created` but is not due, and `held_back_at` says since when. Lock order: the payment first,
the balance row last.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import OuterRef, QuerySet

from balance import selectors as balances
from balance import services as ledger
from common import leases
from common.engine.wakeups import enqueue_on_commit
from payments.models import Payment
from payments.services import left_payments, lifecycle

_BATCH = 500


def among(payments: Sequence[Payment]) -> dict[str, bool]:
    """Of each payment, by its id, whether its tenant may pay nothing now. Asked under the balance
    rows' locks, so that a return which is being posted comes first. Nothing is said of a payment
    whose balance somebody keeps locked for too long."""
    overdrawn = ledger.overdrawn(tenant_ids={payment.tenant_id for payment in payments})
    return {
        payment.pk: overdrawn[payment.tenant_id]
        for payment in payments
        if payment.tenant_id in overdrawn
    }


@transaction.atomic
def keep_back(payment: Payment, now: datetime) -> bool:
    """Give back the lease of a claimed payment, and hold it back until a credit wakes it. False,
    and nothing changes, if there is money by now.

    A payment that was claimed for the first time was never sent, so it can still be canceled.
    Returns True, too, if the lease is no longer ours: then its next holder decides.
    """
    rows = Payment.objects.select_for_update(no_key=True)
    if not rows.filter(pk=payment.pk, lease_version=payment.lease_version).exists():
        return True
    if ledger.lock_row(tenant_id=payment.tenant_id).available >= 0:
        return False
    leases.finish(
        payment,
        attempts=0 if payment.attempts == 1 else payment.attempts,
        held_back_at=now,
        expected_arrival_date=None,
        updated_at=now,
    )
    ledger.set_notify_rise(tenant_id=payment.tenant_id, wanted=True)
    left_payments.settle_kept_back(payment, now)
    return True


@transaction.atomic
def release(*, tenant_id: str, now: datetime) -> int:
    """Make the tenant's held back payments due if available is no longer negative; returns how
    many.

    All become due at the same moment, so that the oldest is sent first; each is checked again
    before it is sent. The next sweep continues a very long queue.
    """
    rows = held_back(tenant_id).select_for_update(no_key=True, skip_locked=True)
    found = rows.order_by("pk").only("method", "network", "speed", "amount")[:_BATCH]
    chosen = {row.pk: lifecycle.way_of(row) for row in found}
    if not chosen or balances.summary(tenant_id).available < 0:
        return 0
    days = {way: way.expected_on(now) for way in set(chosen.values())}
    for day in set(days.values()):
        those = Payment.objects.filter(
            pk__in=[pk for pk, way in chosen.items() if days[way] == day]
        )
        those.update(held_back_at=None, updated_at=now, **lifecycle.due(now, arrives_on=day))
    enqueue_on_commit("payments.submit_due")
    return len(chosen)


def held_back(tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments that are held back."""
    return all_held_back().filter(tenant_id=tenant_id)


def all_held_back() -> QuerySet[Payment]:
    """The payments of all tenants that are held back."""
    return Payment.objects.filter(held_back_at__isnull=False)


def releasable() -> QuerySet[Payment]:
    """Payments that are held back although available is no longer negative: a wake-up was lost."""
    return Payment.objects.filter(
        balances.covers(tenant_id=OuterRef("tenant_id"), amount=0),
        held_back_at__isnull=False,
    )
