"""Everything about one tenant on one screen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from balance import selectors as ledger
from balance.selectors import Funds
from common.database import undisclosed
from dashboard.auto_funding import state as auto_funding
from dashboard.auto_funding.obstacles import State
from dashboard.bank_accounts.lines import BankAccountLine, bank_account_line
from dashboard.developers.webhooks.lines import EndpointLine, endpoint_line
from dashboard.funding.lines import FundingLine, funding_line
from dashboard.statement.lines import TransactionLine, transaction_line
from desk import return_rates
from desk.admin.audit_log import name_all
from desk.return_rates import TenantMeters
from desk.tenants.money_out import MoneyOut, money_out
from funding import figures
from funding import selectors as funding
from funding.methods import METHODS
from funding.services import limits, tenant_limits
from funding.services.auto_funding_checks import obstacle_of
from funding.services.limits import Limits, OwnLimits, Usage
from payments import selectors as payments
from payments.models import Payment
from tenants import selectors
from tenants.models import ApiKey, AuditEvent, Membership, Tenant
from webhooks import selectors as webhooks
from webhooks.delivery_health import health_of
from webhooks.models import WebhookEndpoint

SHOWN = 8


@dataclass(frozen=True)
class LimitLine:
    """One limit in force, in cents; `own`: staff set it for this tenant."""

    label: str
    cents: int | None
    used: int | None
    own: bool


@dataclass(frozen=True)
class TenantFile:
    """What the page shows. Lists hold the newest few."""

    tenant: Tenant
    funds: Funds
    limits: list[LimitLine]
    money_out: MoneyOut
    auto_funding: State
    returns: TenantMeters
    accounts: list[tuple[str, BankAccountLine]]
    funding: list[FundingLine]
    payments: list[Payment]
    postings: list[TransactionLine]
    endpoints: list[EndpointLine]
    keys: list[ApiKey]
    people: list[Membership]
    audit: list[AuditEvent]


def tenant_file(*, tenant_id: str, now: datetime) -> TenantFile:
    """Raises NotFound. Some thirty queries at most, however busy the tenant is."""
    tenant = selectors.found_tenant(tenant_id)
    audit = list(selectors.audit_events(tenant_id=tenant_id)[:SHOWN])
    name_all(audit)
    config = funding.auto_funding(tenant_id=tenant_id, now=now).config
    postings = ledger.transactions(tenant_id).order_by("-sequence")[:SHOWN]
    sources = funding.sources(tenant_id=tenant_id).order_by("-created_at", "-pk")[:SHOWN]
    endpoints = undisclosed.of(webhooks.endpoints(tenant_id=tenant_id))
    newest = endpoints.order_by("-created_at", "-pk")[:SHOWN]
    return TenantFile(
        tenant=tenant,
        funds=ledger.summary(tenant_id),
        limits=limit_lines(tenant_id=tenant_id, now=now),
        money_out=money_out(tenant, now=now),
        auto_funding=auto_funding.state(config, now=now, obstacle=obstacle_of(config, now=now)),
        returns=return_rates.tenant_meters(figures.debit_returns_of(tenant_id=tenant_id, now=now)),
        accounts=[(row.pk, bank_account_line(row)) for row in sources],
        funding=[funding_line(row) for row in funding.in_flight(tenant_id=tenant_id)[:SHOWN]],
        payments=list(payments.open_payments(tenant_id=tenant_id)[:SHOWN]),
        postings=[transaction_line(row) for row in postings],
        endpoints=_endpoint_lines(list(newest), now),
        keys=list(undisclosed.of(selectors.api_keys(tenant_id=tenant_id))[:SHOWN]),
        people=list(selectors.members(tenant_id=tenant_id)[:SHOWN]),
        audit=audit,
    )


def _endpoint_lines(rows: list[WebhookEndpoint], now: datetime) -> list[EndpointLine]:
    health = health_of([row.pk for row in rows], now=now)
    return [endpoint_line(row, health[row.pk], now=now) for row in rows]


def limit_lines(*, tenant_id: str, now: datetime) -> list[LimitLine]:
    """The limits in force, and what counts against them."""
    return _limit_lines(
        limits.of(tenant_id),
        tenant_limits.of(tenant_id),
        limits.usage(tenant_id=tenant_id, now=now),
    )


def _limit_lines(force: Limits, own: OwnLimits, used: Usage) -> list[LimitLine]:
    ach, rtp = force.per_transaction["ach_debit"], force.per_transaction["rtp"]
    each_ach, each_rtp = (f"Each {METHODS[name].words}" for name in ("ach_debit", "rtp"))
    return [
        LimitLine(each_ach, ach, None, own.ach_transaction_max is not None),
        LimitLine(each_rtp, rtp, None, own.rtp_transaction_max is not None),
        LimitLine("A day", force.daily, used.today, own.daily_max is not None),
        LimitLine("A month", force.monthly, used.this_month, own.monthly_max is not None),
    ]
