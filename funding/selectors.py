"""Reads about funding."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet

from balance import selectors as ledger
from common.errors import NotFound
from common.ids import is_id
from funding.models import FundingTransaction
from funding.services.lifecycle import SOURCE_TYPE


def transactions(*, tenant_id: str) -> QuerySet[FundingTransaction]:
    """The tenant's funding, each row with the ids of its balance transactions."""
    postings = ledger.postings_of(
        tenant_id=OuterRef("tenant_id"), source_type=SOURCE_TYPE, source_id=OuterRef("pk")
    )
    return FundingTransaction.objects.filter(tenant_id=tenant_id).annotate(
        balance_transaction_ids=ArraySubquery(postings.values("pk"))
    )


def transaction(*, tenant_id: str, funding_id: str) -> FundingTransaction:
    """One funding of the tenant. Raises NotFound, also for a malformed or a foreign id."""
    row = (
        is_id(funding_id, "ftx") and transactions(tenant_id=tenant_id).filter(pk=funding_id).first()
    )
    if not row:
        raise NotFound("There is no such funding transaction.")
    return row


def newest_first(
    rows: QuerySet[FundingTransaction], *, chunk: int = 1_000
) -> Iterator[FundingTransaction]:
    """Every row, chunk by chunk, each in a short query: no snapshot is held in between."""
    rows = rows.order_by("-created_at", "-pk")
    part = list(rows[:chunk])
    while part:
        yield from part
        last = part[-1]
        behind = Q(created_at__lt=last.created_at) | Q(pk__lt=last.pk)
        part = list(rows.filter(behind, created_at__lte=last.created_at)[:chunk])
