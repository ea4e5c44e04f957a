"""Live tenants with money at a bank, and the closing of a day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import Any

from django.db import connection

from balance import holdings
from balance import services as ledger
from balance.operator.accounts import OperatorAccount, Step
from balance.operator.posting import Booking
from balance.operator.totals import totals, totals_of_live
from common import ids
from funding.states import FundingStatus
from networks import calendar, registry
from solvency import taking
from solvency.figures import ClosedFigures, Figures, Receivables
from solvency.models import ProofReport
from solvency.tree import NOTHING
from tenants.actors import SYSTEM
from tenants.models import Mode, Tenant
from tests.balance.builders import movement
from tests.builders import NOW, make_funding, make_source, make_tenant
from tests.database import owner
from tests.networks.scripted import ScriptedNetwork

DAY = date(2026, 11, 20)
NEXT_DAY = date(2026, 11, 23)
RAIL = "ach"
OWN_FUNDS = 50_000


def live(name: str = "Northwind") -> Tenant:
    return make_tenant(name=name, mode=Mode.LIVE)


def fund(tenant: Tenant, cents: int) -> None:
    """A top-up that settled at the bank and is final."""
    source_id = _settle_and_complete(tenant, cents)
    ledger.credit(**movement(tenant, cents, source_type="funding_transaction", source_id=source_id))


def _settle_and_complete(tenant: Tenant, cents: int) -> str:
    """The operator's lines of a top-up; returns its id."""
    source_id = ids.new("ftx")
    ledger.book(
        [
            Booking(step, cents, RAIL, "funding_transaction", source_id, tenant_id=tenant.pk)
            for step in (Step.IN_SETTLED, Step.IN_FINAL)
        ],
        now=NOW,
    )
    return source_id


def settle(tenant: Tenant, cents: int, *, rail: str = RAIL, day: date = DAY) -> None:
    """A top-up that settled at the bank on a day and is not final yet."""
    disconnect = registry.connect(ScriptedNetwork(), modes=(tenant.mode,))
    source = make_source(tenant)
    disconnect()
    row = make_funding(
        tenant,
        source,
        status=FundingStatus.IN_TRANSIT,
        amount=cents,
        settlement_date=day,
    )
    booked = Booking(
        Step.IN_SETTLED, cents, rail, "funding_transaction", row.pk, tenant_id=tenant.pk, day=day
    )
    ledger.book([booked], now=NOW)


def leave(tenant: Tenant, cents: int) -> None:
    """A payment that left the bank and is not final yet."""
    payment_id = ids.new("pay")
    booked = Booking(Step.OUT_SETTLED, cents, RAIL, "payment", payment_id, tenant_id=tenant.pk)
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


def prove(tenant: Tenant, *, rails: Sequence[str] = (RAIL,)) -> ProofReport:
    """A proof of the next banking day with what the tenant has now, be it a sandbox tenant.

    What live tenants have without lines of the operator at these rails settles first.
    """
    last = ProofReport.objects.order_by("-day").first()
    day = calendar.next_banking_day(last.day) if last else DAY
    with _as_live(tenant):
        if missing := _owed(rails) - _in_the_books(rails):
            _settle_and_complete(tenant, missing)
        return taking.take(day, [closed(rail=rail) for rail in rails], now=NOW)


def _owed(rails: Sequence[str]) -> int:
    return Figures(
        accounts=[],
        tenants=NOTHING._replace(
            available=sum(each.available + each.locked for each in holdings.of_live())
        ),
        receivables=Receivables(count=0, amount=0),
        operator=totals_of_live(rails),
    ).owed


def _in_the_books(rails: Sequence[str]) -> int:
    return sum(
        total.debit - total.credit
        for total in totals_of_live(rails)
        if total.account == OperatorAccount.SETTLEMENT
    )


@contextmanager
def _as_live(tenant: Tenant) -> Iterator[None]:
    _set_mode(tenant, Mode.LIVE)
    yield
    _set_mode(tenant, Mode(tenant.mode))


def _set_mode(tenant: Tenant, mode: Mode) -> None:
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute("UPDATE tenants_tenant SET mode = %s WHERE id = %s", [mode, tenant.pk])
