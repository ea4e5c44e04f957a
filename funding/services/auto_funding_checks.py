"""What can keep auto-funding from adding money: the `GUARDS`, in the order in which they are
checked.

`permit` checks the guards of a firing, under the balance row's lock, and must not wait for another
row. `obstacle_of` checks those that apply to somebody who only looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import NamedTuple

from django.db.models import QuerySet

from balance.selectors import Funds
from common.errors import DomainError
from funding import selectors
from funding.errors import (
    AuthorizationRequired,
    DailyLimitExceeded,
    FundingMethodNotSupported,
    FundingSourceNotAuthorized,
    FundingSourceNotVerified,
    FundingSourceUnusable,
    MonthlyLimitExceeded,
)
from funding.methods import METHODS
from funding.models import (
    AutoFundingConfig,
    DebitAuthorization,
    DecisionOutcome,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import (
    auto_funding_month,
    debit_authorizations,
    limits,
    notices,
    pauses,
    sources,
)
from funding.services.approval_policy import SUPERSEDED
from funding.states import IN_FLIGHT
from networks.base import PaymentNetwork
from tenants import switches
from tenants.models import TenantStatus
from tenants.switches import SwitchKind
from transfers.errors import AmountAboveLimit

RUNAWAY_FIRINGS = 3
RUNAWAY_WITHIN = timedelta(minutes=10)
LOOK_AGAIN_AFTER = timedelta(minutes=10)


class Reason(StrEnum):
    """Why no money is added, where it is neither a pause nor the code of a DomainError."""

    TENANT_SUSPENDED = "tenant_suspended"
    ALREADY_IN_FLIGHT = "already_in_flight"
    NO_SOURCE = "no_funding_source"
    NO_NETWORK = "no_network"
    MONTHLY_LIMIT = "auto_funding_monthly_limit"
    STOPPED = "funding_stopped"


class Declined(Exception):
    """Why no money is added. `is_news`: the tenant is told of it here, because nothing else tells
    it.

    `pauses`: a firing that meets this reason pauses auto-funding until `paused_until` or, without
    it, until a person acts.
    """

    def __init__(
        self,
        reason: str,
        detail: str,
        *,
        is_news: bool = True,
        pauses: bool = False,
        paused_until: datetime | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.is_news = is_news
        self.pauses = pauses
        self.paused_until = paused_until


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
        return self.funds.is_below(self.threshold)


@dataclass(kw_only=True)
class Attempt:
    """An attempt to add `amount` cents at `now`. The guards fill in `source`, `network` and, where
    the debit needs one, `authorization`."""

    config: AutoFundingConfig
    amount: int
    now: datetime
    source: FundingSource = field(init=False)
    network: PaymentNetwork = field(init=False)
    authorization: DebitAuthorization | None = None


class Purpose(Enum):
    """Why the guards are checked: to add money now, or to tell somebody what is in the way."""

    FIRING = "firing"
    LOOKING = "looking"


class Guard(NamedTuple):
    """One thing that may be in the way. `check` raises Declined or a DomainError with one of
    `reasons`. With `only`, the guard is checked for that purpose alone."""

    check: Callable[[Attempt], None]
    reasons: tuple[str, ...]
    only: Purpose | None = None


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


def permit(situation: Situation) -> Attempt:
    """The account and the network that the money would come from, and the authorization of the
    debit. The source cannot be removed before the transaction ends.

    Raises Declined, after pausing auto-funding if the reason demands it.
    """
    config, now = situation.config, situation.now
    attempt = Attempt(config=config, amount=situation.amount, now=now)
    try:
        _ask(Purpose.FIRING, attempt)
    except Declined as refusal:
        if refusal.pauses:
            pauses.pause(
                tenant_id=config.tenant_id,
                reason=refusal.reason,
                until=refusal.paused_until,
                now=now,
            )
        raise
    return attempt


def obstacle_of(config: AutoFundingConfig, *, now: datetime) -> Declined | None:
    """What would keep `config` from adding money now, whether or not the balance is low. None if
    nothing does, and where auto-funding is switched off.

    For pages and API answers: it takes no lock and writes nothing, and a funding on its way is no
    obstacle.
    """
    if not config.enabled:
        return None
    try:
        _ask(Purpose.LOOKING, Attempt(config=config, amount=config.funding_amount or 0, now=now))
    except Declined as refusal:
        return refusal
    return None


def _ask(purpose: Purpose, attempt: Attempt) -> None:
    """Raises Declined for the first guard that is in the way."""
    for guard in GUARDS:
        if guard.only not in (None, purpose):
            continue
        try:
            guard.check(attempt)
        except DomainError as refusal:
            raise Declined(refusal.code, refusal.detail) from refusal


def _tenant_is_active(attempt: Attempt) -> None:
    if attempt.config.tenant.status == TenantStatus.SUSPENDED:
        raise Declined(Reason.TENANT_SUSPENDED, "The tenant is suspended.")


def _nothing_is_in_flight(attempt: Attempt) -> None:
    """Raises Declined while an automatic funding is on its way. The unique index would refuse a
    second one as well, but that would fail the transaction of the posting."""
    if in_flight().filter(tenant_id=attempt.config.tenant_id).exists():
        detail = "An automatic top-up is on its way."
        raise Declined(Reason.ALREADY_IN_FLIGHT, detail, is_news=False)


def _is_not_paused(attempt: Attempt) -> None:
    if pauses.is_paused(attempt.config, attempt.now):
        raise Declined(attempt.config.paused_reason, "Auto-funding is paused.", is_news=False)


def _lock_source(attempt: Attempt) -> None:
    """Lock the source that auto-funding draws on. Raises Declined."""
    config = attempt.config
    source_id = selectors.auto_funding_source_id(config)
    if source_id is None:
        raise _no_source()
    attempt.source = sources.hold(tenant_id=config.tenant_id, source_id=source_id)


def _read_source(attempt: Attempt) -> None:
    config = attempt.config
    source = selectors.drawn_from(tenant_id=config.tenant_id, source_id=config.source_id)
    if source is None:
        raise _no_source()
    attempt.source = source


def _no_source() -> Declined:
    return Declined(Reason.NO_SOURCE, "There is no bank account to add money from.")


def _source_can_be_debited(attempt: Attempt) -> None:
    sources.require_debitable(source=attempt.source, method=attempt.config.funding_method)


def _debit_is_authorized(attempt: Attempt) -> None:
    """Find the authorization of the debit. Raises AuthorizationRequired."""
    attempt.authorization = debit_authorizations.for_rule(
        attempt.config,
        attempt.source,
        mode=attempt.config.tenant.mode,
        amount=attempt.amount,
    )


def _source_is_not_left_alone(attempt: Attempt) -> None:
    """Raises Declined while this account is left alone after failures. They may come from a time at
    which the settings named another account."""
    until = pauses.left_alone_until(attempt.source, now=attempt.now)
    if until is not None:
        detail = "A debit of this account failed a short while ago."
        raise Declined(
            notices.AFTER_FAILURE, detail, is_news=False, pauses=True, paused_until=until
        )


def _network_is_connected(attempt: Attempt) -> None:
    config = attempt.config
    network = METHODS[config.funding_method].network(config.tenant.mode)
    if network is None:
        raise Declined(Reason.NO_NETWORK, "No payment network is connected yet.")
    attempt.network = network


def _limits_allow_it(attempt: Attempt) -> None:
    """Check the limits. For a firing the caller holds the balance row, so that no other amount is
    added meanwhile."""
    tenant_id = attempt.config.tenant_id
    limits.check_unlocked(
        limits.of(tenant_id),
        tenant_id=tenant_id,
        method=attempt.config.funding_method,
        amount=attempt.amount,
        now=attempt.now,
    )


def _settings_allow_it(attempt: Attempt) -> None:
    """Check the monthly limit of the settings."""
    config = attempt.config
    try:
        auto_funding_month.check(
            config.monthly_limit,
            tenant_id=config.tenant_id,
            amount=attempt.amount,
            now=attempt.now,
        )
    except MonthlyLimitExceeded as refusal:
        raise Declined(Reason.MONTHLY_LIMIT, refusal.detail) from refusal


def _does_not_run_away(attempt: Attempt) -> None:
    """Raises Declined after three firings within ten minutes since somebody resumed it, until a
    person acts."""
    config, now = attempt.config, attempt.now
    since = max(now - RUNAWAY_WITHIN, config.resumed_at or now - RUNAWAY_WITHIN)
    firings = selectors.decisions(tenant_id=config.tenant_id).filter(
        outcome=DecisionOutcome.FIRED, created_at__gt=since
    )
    # A funding that was withdrawn because its terms changed never asked a bank for money.
    if firings.exclude(funding__failure_code=SUPERSEDED).count() >= RUNAWAY_FIRINGS:
        detail = "It added money three times within ten minutes."
        raise Declined(notices.RUNAWAY, detail, is_news=False, pauses=True)


def _sending_is_not_stopped(attempt: Attempt) -> None:
    """Raises Declined while an operator switch stops sending. It is for those who look: a firing
    happens all the same, and waits until sending goes on."""
    stop = switches.stop_of(
        SwitchKind.FUNDING, tenant_id=attempt.config.tenant_id, network=attempt.network.name
    )
    if stop is not None:
        detail = "Sending to the bank is stopped. Requests wait until it resumes."
        raise Declined(Reason.STOPPED, detail, is_news=False)


GUARDS = (
    Guard(_tenant_is_active, (Reason.TENANT_SUSPENDED,)),
    Guard(_nothing_is_in_flight, (Reason.ALREADY_IN_FLIGHT,), only=Purpose.FIRING),
    Guard(_is_not_paused, tuple(notices.PAUSES)),
    Guard(_lock_source, (Reason.NO_SOURCE,), only=Purpose.FIRING),
    Guard(_read_source, (Reason.NO_SOURCE,), only=Purpose.LOOKING),
    Guard(
        _source_can_be_debited,
        (
            FundingSourceNotVerified.code,
            FundingSourceUnusable.code,
            FundingMethodNotSupported.code,
            FundingSourceNotAuthorized.code,
        ),
    ),
    Guard(_debit_is_authorized, (AuthorizationRequired.code,)),
    Guard(_source_is_not_left_alone, (notices.AFTER_FAILURE,)),
    Guard(_network_is_connected, (Reason.NO_NETWORK,)),
    Guard(
        _limits_allow_it,
        (AmountAboveLimit.code, DailyLimitExceeded.code, MonthlyLimitExceeded.code),
    ),
    Guard(_settings_allow_it, (Reason.MONTHLY_LIMIT,)),
    Guard(_does_not_run_away, (notices.RUNAWAY,)),
    Guard(_sending_is_not_stopped, (Reason.STOPPED,), only=Purpose.LOOKING),
)
