"""Reads about payments and recipients."""

from __future__ import annotations

from typing import Literal

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, QuerySet

from balance import selectors as ledger
from common.errors import NotFound
from common.ids import is_id
from payments.models import Payment, Recipient
from payments.services.lifecycle import SOURCE_TYPE
from payments.states import OPEN, PaymentStatus


def payments(*, tenant_id: str) -> QuerySet[Payment]:
    """The tenant's payments, each with its recipient and the ids of its balance transactions."""
    postings = ledger.postings_of(
        tenant_id=OuterRef("tenant_id"), source_type=SOURCE_TYPE, source_id=OuterRef("pk")
    )
    return (
        Payment.objects.filter(tenant_id=tenant_id)
        .select_related("recipient")
        .annotate(known_posting_ids=ArraySubquery(postings.values("pk")))
    )


def payment(*, tenant_id: str, payment_id: str) -> Payment:
    """One payment of the tenant. Raises NotFound, also for a malformed or a foreign id."""
    rows = payments(tenant_id=tenant_id)
    return _found_payment(is_id(payment_id, "pay") and rows.filter(pk=payment_id).first())


def open_payments(*, tenant_id: str) -> QuerySet[Payment]:
    """Those on their way or waiting for money, newest first, with their recipients."""
    moving = (*OPEN, PaymentStatus.WAITING_FOR_FUNDS)
    rows = Payment.objects.filter(tenant_id=tenant_id, status__in=moving)
    return rows.select_related("recipient").order_by("-created_at", "-pk")


def recipients(*, tenant_id: str) -> QuerySet[Recipient]:
    """The tenant's saved recipients, removed ones too."""
    return Recipient.objects.filter(tenant_id=tenant_id, is_saved=True)


def recipient(*, tenant_id: str, recipient_id: str) -> Recipient:
    """One saved recipient. Raises NotFound, also for a malformed or a foreign id."""
    rows = recipients(tenant_id=tenant_id)
    return _found_recipient(is_id(recipient_id, "rcp") and rows.filter(pk=recipient_id).first())


def any_recipient(recipient_id: str) -> Recipient:
    """Any tenant's recipient, saved or not, for staff. Raises NotFound."""
    known = Recipient.objects.filter(pk=recipient_id)
    return _found_recipient(is_id(recipient_id, "rcp") and known.first())


def _found_payment(row: Payment | Literal[False] | None) -> Payment:
    if not row:
        raise NotFound("There is no such payment.")
    return row


def _found_recipient(row: Recipient | Literal[False] | None) -> Recipient:
    if not row:
        raise NotFound("There is no such recipient.")
    return row
