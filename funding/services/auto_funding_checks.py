"""What may keep auto-funding from firing, in the order in which it is asked.

All of it runs under the balance row's lock, and none of it waits for another row.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from balance.selectors import Funds
from common.money import format_cents
from funding import selectors
from funding.models import (
    AutoFundingConfig,
    DecisionOutcome,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import limits, pauses, sources
from funding.services.confirmation_outcomes import SUPERSEDED
from funding.states import IN_FLIGHT
from networks import registry
from networks.base import PaymentNetwork
from tenants.models import TenantStatus

RUNAWAY = "too_many_firings"
RUNAWAY_FIRINGS = 3
RUNAWAY_WITHIN = timedelta(minutes=10)
LOOK_AGAIN_AFTER = timedelta(minutes=10)


class Declined(Exception):
    """Why no money is added. `is_news`: the tenant hears of it here and nowhere else."""

    def __init__(self, reason: str, detail: str, *, is_news: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.is_news = is_news


class Undecidable(Exception):
    """The bank account is being removed at this moment; the sweep looks again."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The settings and the funds they are applied to, in cents."""

    config: AutoFundingConfig
    funds: Funds
    threshold: int
    amount: int
    now: datetime

    @property
    def is_low(self) -> bool:
        return self.funds.available + self.funds.pending < self.threshold


def in_flight() -> QuerySet[FundingTransaction]:
    """Automatic funding that has neither completed nor failed."""
    return FundingTransaction.objects.filter(trigger=Trigger.AUTO_FUNDING, status__in=IN_FLIGHT)


def idle_until(*, tenant_id: str, now: datetime) -> datetime | None:
    """Until when looking is of no use: nothing is enabled, or paused, suspended or under way. None
    if it may fire. For a caller who holds the balance row.

    Never long: whoever ends the pause or the funding says so, and if not, this does.
    """
    config = AutoFundingConfig.objects.select_related("tenant").filter(tenant_id=tenant_id).first()
    later = now + LOOK_AGAIN_AFTER
    if config is None or not config.enabled or config.tenant.status != TenantStatus.ACTIVE:
        return later
    if pauses.is_paused(config, now):
        return min(config.paused_until or later, later)
    return later if in_flight().filter(tenant_id=tenant_id).exists() else None


def permit(situation: Situation) -> tuple[FundingSource, PaymentNetwork]:
    """Where the money would come from; the source stays unremoved until the transaction ends.

    Raises Declined, Undecidable, and the DomainErrors of `sources` and `limits`.
    """
    _check_standing(situation)
    source = _lock_source(situation.config)
    network = registry.for_mode(situation.config.tenant.mode)
    if network is None:
        raise Declined("no_network", "No payment network is connected yet.")
    _check_amount(situation)
    _check_pace(situation)
    return source, network


def _check_standing(situation: Situation) -> None:
    """Raises Declined while nothing may fire, whatever the bank account and the amount."""
    config = situation.config
    if config.tenant.status == TenantStatus.SUSPENDED:
        raise Declined("tenant_suspended", "The tenant is suspended.")
    # The unique index would say it too, but by failing the transaction of whoever posts.
    if in_flight().filter(tenant_id=config.tenant_id).exists():
        raise Declined("already_in_flight", "An automatic funding is on its way.", is_news=False)
    if pauses.is_paused(config, situation.now):
        raise Declined(config.paused_reason, "Auto-funding is paused.", is_news=False)


def _lock_source(config: AutoFundingConfig) -> FundingSource:
    source_id = selectors.auto_funding_source_id(config)
    if source_id is None:
        raise Declined("no_funding_source", "There is no bank account to draw from.")
    source = sources.try_lock(tenant_id=config.tenant_id, source_id=source_id)
    if source is None:
        raise Undecidable
    sources.require_debitable(source=source, method=config.funding_method)
    return source


def _check_amount(situation: Situation) -> None:
    config, amount, now = situation.config, situation.amount, situation.now
    limits.check(
        limits.of(config.tenant_id),
        tenant_id=config.tenant_id,
        method=config.funding_method,
        amount=amount,
        now=now,
    )
    if config.monthly_limit is None:
        return
    used = selectors.funded_automatically(tenant_id=config.tenant_id, now=now)
    if used + amount > config.monthly_limit:
        raise Declined(
            "auto_funding_monthly_limit",
            f"Automatic funding may add {format_cents(config.monthly_limit)} a month;"
            f" {format_cents(used)} of that is used.",
        )


def _check_pace(situation: Situation) -> None:
    """Three firings within ten minutes are a runaway: nothing more until a person acts."""
    config, now = situation.config, situation.now
    since = max(now - RUNAWAY_WITHIN, config.resumed_at or now - RUNAWAY_WITHIN)
    firings = selectors.decisions(tenant_id=config.tenant_id).filter(
        outcome=DecisionOutcome.FIRED, created_at__gt=since
    )
    # What a change of the terms withdrew never asked a bank for money.
    if firings.exclude(funding__failure_code=SUPERSEDED).count() >= RUNAWAY_FIRINGS:
        pauses.pause(tenant_id=config.tenant_id, reason=RUNAWAY, now=now)
        raise Declined(RUNAWAY, "It fired three times within ten minutes.", is_news=False)
