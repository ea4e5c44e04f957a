"""What can keep auto-funding from firing, in the order in which it is checked.

`permit` runs under the balance row's lock and must not wait for another row. `obstacle_of` only
reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from balance.selectors import Funds
from common.errors import DomainError
from funding import selectors
from funding.errors import MonthlyLimitExceeded
from funding.methods import METHODS
from funding.models import (
    AutoFundingConfig,
    DecisionOutcome,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import auto_funding_month, limits, pauses, sources
from funding.services.approval_policy import SUPERSEDED
from funding.states import IN_FLIGHT
from networks.base import PaymentNetwork
from tenants import switches
from tenants.models import TenantStatus
from tenants.switches import SwitchKind

RUNAWAY = "too_many_firings"
RUNAWAY_FIRINGS = 3
RUNAWAY_WITHIN = timedelta(minutes=10)
LOOK_AGAIN_AFTER = timedelta(minutes=10)
# Reasons and sentences that are used in two places.
NO_SOURCE = ("no_funding_source", "There is no bank account to draw from.")
TOO_FAST = (RUNAWAY, "It fired three times within ten minutes.")
LEFT_ALONE = (pauses.AFTER_FAILURE, "A debit of this account failed a short while ago.")
STOPPED = ("funding_stopped", "Sending to the bank is stopped; what fires waits until it goes on.")


class Declined(Exception):
    """Why no money is added. `is_news`: the tenant is told of it here, because nothing else tells
    it."""

    def __init__(self, reason: str, detail: str, *, is_news: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.is_news = is_news


class Undecidable(Exception):
    """The bank account is being removed at this moment. The sweep looks again."""


@dataclass(frozen=True, kw_only=True)
class Situation:
    """The settings and the funds that they are applied to, in cents."""

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
    """Until when there is no use in looking, because nothing is enabled, it is paused or suspended,
    or a funding is under way. None if it may fire. The caller holds the balance row.

    The time is never far off: whoever ends the pause or the funding asks for a look, and if that is
    lost, this time comes.
    """
    config = AutoFundingConfig.objects.select_related("tenant").filter(tenant_id=tenant_id).first()
    later = now + LOOK_AGAIN_AFTER
    if config is None or not config.enabled or config.tenant.status != TenantStatus.ACTIVE:
        return later
    if pauses.is_paused(config, now):
        return min(config.paused_until or later, later)
    return later if in_flight().filter(tenant_id=tenant_id).exists() else None


def permit(situation: Situation) -> tuple[FundingSource, PaymentNetwork]:
    """The account and the network that the money would come from. The source cannot be removed
    before the transaction ends.

    Raises Declined, Undecidable, and the DomainErrors of `sources` and `limits`.
    """
    _check_standing(situation)
    source = _lock_source(situation.config)
    _check_back_off(situation, source)
    network = network_of(situation.config)
    _check_amount(situation)
    _check_pace(situation)
    return source, network


def obstacle_of(config: AutoFundingConfig, *, now: datetime) -> Declined | None:
    """What would keep `config` from adding money now, whether or not the balance is low. None if
    nothing does, and where auto-funding is switched off.

    For pages and API answers: it takes no lock and writes nothing, and a funding on its way is no
    obstacle. It refuses what `permit` refuses, in the same order.
    """
    if not config.enabled:
        return None
    try:
        _foresee(config, now)
    except Declined as refusal:
        return refusal
    except DomainError as refusal:
        return Declined(refusal.code, refusal.detail)
    return None


def _foresee(config: AutoFundingConfig, now: datetime) -> None:
    """Raises the refusal that `obstacle_of` turns into a reason."""
    check_tenant(config)
    check_pause(config, now)
    source = selectors.drawn_from(tenant_id=config.tenant_id, source_id=config.source_id)
    if source is None:
        raise Declined(*NO_SOURCE)
    sources.require_debitable(source=source, method=config.funding_method)
    if pauses.left_alone_until(source, now=now) is not None:
        raise Declined(*LEFT_ALONE, is_news=False)
    network = network_of(config)
    amount, force = config.funding_amount or 0, limits.of(config.tenant_id)
    limits.check_transaction(force, method=config.funding_method, amount=amount)
    if force.daily is not None or force.monthly is not None:
        limits.check_sums(force, limits.usage(tenant_id=config.tenant_id, now=now), amount=amount)
    check_month(config, amount=amount, now=now)
    if runs_away(config, now):
        raise Declined(*TOO_FAST, is_news=False)
    stop = switches.stop_of(SwitchKind.FUNDING, tenant_id=config.tenant_id, network=network.name)
    if stop is not None:
        raise Declined(*STOPPED, is_news=False)


def check_tenant(config: AutoFundingConfig) -> None:
    """Raises Declined for a tenant that is suspended."""
    if config.tenant.status == TenantStatus.SUSPENDED:
        raise Declined("tenant_suspended", "The tenant is suspended.")


def check_pause(config: AutoFundingConfig, now: datetime) -> None:
    """Raises Declined while it is paused."""
    if pauses.is_paused(config, now):
        raise Declined(config.paused_reason, "Auto-funding is paused.", is_news=False)


def network_of(config: AutoFundingConfig) -> PaymentNetwork:
    """Raises Declined where no network is connected."""
    network = METHODS[config.funding_method].network(config.tenant.mode)
    if network is None:
        raise Declined("no_network", "No payment network is connected yet.")
    return network


def check_month(config: AutoFundingConfig, *, amount: int, now: datetime) -> None:
    """Raises Declined where `amount` cents would exceed the monthly limit of the settings."""
    try:
        auto_funding_month.check(
            config.monthly_limit, tenant_id=config.tenant_id, amount=amount, now=now
        )
    except MonthlyLimitExceeded as refusal:
        raise Declined("auto_funding_monthly_limit", refusal.detail) from refusal


def runs_away(config: AutoFundingConfig, now: datetime) -> bool:
    """Whether it fired three times within ten minutes and nobody has resumed it since."""
    since = max(now - RUNAWAY_WITHIN, config.resumed_at or now - RUNAWAY_WITHIN)
    firings = selectors.decisions(tenant_id=config.tenant_id).filter(
        outcome=DecisionOutcome.FIRED, created_at__gt=since
    )
    # A funding that was withdrawn because its terms changed never asked a bank for money.
    return firings.exclude(funding__failure_code=SUPERSEDED).count() >= RUNAWAY_FIRINGS


def _check_standing(situation: Situation) -> None:
    """Raises Declined while nothing may fire, whatever the bank account and the amount are."""
    config = situation.config
    check_tenant(config)
    # The unique index would refuse it as well, but that would fail the transaction of the posting.
    if in_flight().filter(tenant_id=config.tenant_id).exists():
        raise Declined("already_in_flight", "An automatic funding is on its way.", is_news=False)
    check_pause(config, situation.now)


def _lock_source(config: AutoFundingConfig) -> FundingSource:
    source_id = selectors.auto_funding_source_id(config)
    if source_id is None:
        raise Declined(*NO_SOURCE)
    source = sources.try_lock(tenant_id=config.tenant_id, source_id=source_id)
    if source is None:
        raise Undecidable
    sources.require_debitable(source=source, method=config.funding_method)
    return source


def _check_back_off(situation: Situation, source: FundingSource) -> None:
    """Raises Declined while this account is left alone after failures. They may come from a time at
    which the settings named another account."""
    config, now = situation.config, situation.now
    until = pauses.left_alone_until(source, now=now)
    if until is not None:
        pauses.pause(tenant_id=config.tenant_id, reason=pauses.AFTER_FAILURE, until=until, now=now)
        raise Declined(*LEFT_ALONE, is_news=False)


def _check_amount(situation: Situation) -> None:
    config, amount, now = situation.config, situation.amount, situation.now
    limits.check(
        limits.of(config.tenant_id),
        tenant_id=config.tenant_id,
        method=config.funding_method,
        amount=amount,
        now=now,
    )
    check_month(config, amount=amount, now=now)


def _check_pace(situation: Situation) -> None:
    """Raises Declined after three firings within ten minutes, until a person acts."""
    config, now = situation.config, situation.now
    if runs_away(config, now):
        pauses.pause(tenant_id=config.tenant_id, reason=RUNAWAY, now=now)
        raise Declined(*TOO_FAST, is_news=False)
