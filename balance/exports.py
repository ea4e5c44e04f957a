"""The journal as rows of text and numbers, for files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from balance import journal
from balance.models import JournalLeg
from common.clock import text_of
from tenants.actors import Actor
from tenants.services import audit

HEADER = (
    "transactionId",
    "tenantId",
    "sequence",
    "createdAt",
    "type",
    "account",
    "debit",
    "credit",
    "currency",
    "sourceType",
    "sourceId",
    "description",
)


def rows(
    tenant_id: str | None = None, *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[list[str | int]]:
    """One row per leg, in the order of `journal.legs`. Descriptions may look like formulas."""
    return (_cells(leg) for leg in journal.legs(tenant_id, since=since, until=until))


def export(
    *, tenant_id: str | None, since: datetime, until: datetime, actor: Actor, now: datetime
) -> Iterator[list[str | int]]:
    """The rows of the journal, after the audit log says who took them."""
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="journal.exported",
        subject_id=tenant_id or "",
        details={"since": text_of(since), "until": text_of(until)},
        now=now,
    )
    return rows(tenant_id, since=since, until=until)


def _cells(leg: JournalLeg) -> list[str | int]:
    return [
        leg.transaction_id,
        leg.tenant_id or "",
        leg.sequence,
        text_of(leg.created_at),
        leg.type,
        leg.account,
        leg.debit,
        leg.credit,
        leg.currency,
        leg.source_type,
        leg.source_id,
        leg.description,
    ]
