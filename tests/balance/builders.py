"""Short ways to move a test tenant's money, and to read it back."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection

from balance import services as ledger
from balance.kinds import PostingType
from balance.models import Balance, BalanceTransaction
from balance.posting import Posting
from balance.sets import Entry
from balance.signals import available_balance_fell, available_balance_rose
from common import ids
from tenants.models import Tenant
from tests.builders import NOW

_NEWS = ("tenant_id", "available", "source_type", "now")


def movement(tenant: Tenant, amount: int, **changes: Any) -> Any:
    """The arguments of a posting, with a source of its own unless given one."""
    return {
        "tenant_id": tenant.pk,
        "amount": amount,
        "source_type": "payment",
        "source_id": ids.new("pay"),
        "description": "Test",
        "now": NOW,
        **changes,
    }


def fund(tenant: Tenant, amount: int, **changes: Any) -> Posting:
    """Credit the tenant as a completed top-up does."""
    source = {"source_type": "funding_transaction", "source_id": ids.new("ftx")}
    return ledger.credit(**movement(tenant, amount, **source | changes))


def entry(tenant: Tenant, kind: PostingType, amount: int, **changes: Any) -> Entry:
    """One posting of a set, with a source of its own unless given one."""
    given: dict[str, Any] = {
        "source_type": "payment",
        "source_id": ids.new("pay"),
        "description": "Test",
    }
    return Entry(kind=kind, tenant_id=tenant.pk, amount=amount, **given | changes)


def balance_of(tenant: Tenant) -> tuple[int, int, int]:
    """(available, pending, locked) as stored."""
    return Balance.objects.values_list("available", "pending", "locked").get(tenant=tenant)


def statement_of(tenant: Tenant) -> list[tuple[int, str, int, int, int]]:
    """(sequence, type, amount, available after, locked after), oldest first."""
    rows = BalanceTransaction.objects.filter(tenant=tenant).order_by("sequence")
    return list(rows.values_list("sequence", "type", "amount", "available_after", "locked_after"))


@dataclass
class RoundTrips:
    count: int = 0


@contextmanager
def round_trips() -> Iterator[RoundTrips]:
    """Counts how often PostgreSQL was waited for, whichever cursor was used."""
    counted = RoundTrips()
    connection.ensure_connection()
    wire = connection.connection.pgconn
    with tempfile.TemporaryFile() as trace:
        wire.trace(trace.fileno())
        try:
            yield counted
        finally:
            wire.untrace()
        trace.seek(0)
        counted.count = sum(b"\tReadyForQuery" in line for line in trace)


@contextmanager
def announced_to(heard: list[Any]) -> Iterator[None]:
    """Notes what is announced, as (signal, tenant, available, source type, now)."""
    with ExitStack() as stack:
        for name, signal in (("fell", available_balance_fell), ("rose", available_balance_rose)):

            def listen(sender: Any, name: str = name, **news: Any) -> None:
                heard.append((name, *(news[each] for each in _NEWS)))

            signal.connect(listen)
            stack.callback(signal.disconnect, listen)
        yield
