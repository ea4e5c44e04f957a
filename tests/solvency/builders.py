"""Live tenants with money at a bank, and the closing of a day."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from balance import services as ledger
from balance.kinds import PostingType
from balance.operator.accounts import OperatorAccount, Step
from balance.operator.posting import Booking
from balance.operator.totals import totals
from common import ids
from funding.states import FundingStatus
from networks import registry
from solvency import taking
from solvency.figures import ClosedFigures
from solvency.models import ProofReport
from tenants.actors import SYSTEM
from tenants.models import Mode, Tenant
from tests.balance.builders import entry
from tests.builders import NOW, make_funding, make_source, make_tenant
from tests.networks.scripted import ScriptedNetwork

DAY = date(2026, 11, 20)
NEXT_DAY = date(2026, 11, 23)
RAIL = "ach"
OWN_FUNDS = 50_000


def live(name: str = "Northwind") -> Tenant:
    return make_tenant(name=name, mode=Mode.LIVE)


def fund(tenant: Tenant, cents: int) -> None:
    """A top-up that settled at the bank and is final."""
    source: dict[str, Any] = {
        "source_type": "funding_transaction",
        "source_id": ids.new("ftx"),
    }
    ledger.post_all(
        [entry(tenant, PostingType.CREDIT, cents, **source)],
        [
            Booking(step, cents, RAIL, tenant_id=tenant.pk, **source)
            for step in (Step.IN_SETTLED, Step.IN_FINAL)
        ],
        now=NOW,
    )


def settle(tenant: Tenant, cents: int) -> None:
    """A top-up that settled at the bank and is not final yet."""
    disconnect = registry.connect(ScriptedNetwork(), modes=(tenant.mode,))
    source = make_source(tenant)
    disconnect()
    row = make_funding(
        tenant,
        source,
        status=FundingStatus.IN_TRANSIT,
        amount=cents,
        settlement_date=DAY,
    )
    booked = Booking(
        Step.IN_SETTLED, cents, RAIL, "funding_transaction", row.pk, tenant_id=tenant.pk
    )
    ledger.book([booked], now=NOW)


def adjust(tenant: Tenant, cents: int) -> None:
    """A correction by staff, up or down."""
    ledger.adjust(
        tenant_id=tenant.pk,
        type="credit" if cents > 0 else "debit",
        amount=abs(cents),
        reason="Correction",
        actor=SYSTEM,
        now=NOW,
    )


def closed(*, rail: str = RAIL, not_on_statement: int = 0, **changes: Any) -> ClosedFigures:
    """A day that closed at zero: the bank has what the books say, but for what is in transit."""
    books = sum(
        total.debit - total.credit
        for total in totals()
        if total.account == OperatorAccount.SETTLEMENT and total.rail == rail
    )
    values: dict[str, Any] = {
        "rail": rail,
        "last4": "4321",
        "bank_closing": OWN_FUNDS + books - not_on_statement,
        "not_on_statement": not_on_statement,
        "own_funds": OWN_FUNDS,
    }
    return ClosedFigures(**values | changes)


def take(day: date = DAY, now: datetime = NOW, **changes: Any) -> ProofReport:
    return taking.take(day, [closed(**changes)], now=now)
