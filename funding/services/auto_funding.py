"""Adding money when the balance is low: at most one automatic funding in flight per tenant.

Each decision is made under the balance row's lock, which serializes a tenant's auto-funding.
Whoever holds that lock must not wait for another row.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import partial

import structlog
from django.db import transaction

from approvals import requests
from balance import selectors as balances
from balance import services as ledger
from common import sweeps
from common.database import outages
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine.lookups import one_of
from common.money import format_cents
from funding.models import (
    AutoFundingConfig,
    AutoFundingDecision,
    DecisionOutcome,
    FundingTransaction,
    Trigger,
)
from funding.services import approvals, debit_authorizations, lifecycle, notices, pauses
from funding.services import auto_funding_checks as checks
from funding.services.auto_funding_checks import Attempt, Declined, Situation
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from webhooks.bodies import AutoFundingSkipped, BalanceLow

log = structlog.get_logger(__name__)


@transaction.atomic
def evaluate(*, tenant_id: str, now: datetime) -> AutoFundingDecision | None:
    """Add money if the balance and what is on its way are together below the threshold.

    Returns the decision that was written down: a firing, or a refusal for a new reason.
    """
    situation = _situation(tenant_id, now)
    if situation is None:
        return None
    if not situation.is_low:
        _note_recovery(situation.config)
        return None
    _note_low(situation)
    try:
        attempt = checks.permit(situation)
    except Declined as refusal:
        return _decline(situation, refusal)
    return _fire(situation, attempt)


def evaluate_safely(*, tenant_id: str, now: datetime) -> bool:
    """Evaluate without harming the caller's transaction; True if it fired.

    An error in here is rolled back to a savepoint and logged, and the sweep tries again. An error
    that ends the caller's transaction, such as a lost connection, is raised: if it were swallowed,
    the caller would report something that was not stored.
    """
    try:
        decision = evaluate(tenant_id=tenant_id, now=now)
    except Exception:
        if outages.is_transaction_broken():
            raise
        log.exception("auto_funding_failed", tenant_id=tenant_id)
        return False
    return decision is not None and decision.outcome == DecisionOutcome.FIRED


def after_outcomes(fundings: Sequence[FundingTransaction], *, now: datetime) -> None:
    """React to fundings that just completed or failed, in the transaction of those moves.

    The caller holds their rows and, through the moves, the balance rows. A tenant is looked at
    once, when all that became of its fundings is noted: what completes leaves the sum of available
    and pending as it was.
    """
    completed = [each for each in fundings if each.status == FundingStatus.COMPLETED]
    failed = [each for each in fundings if each.status != FundingStatus.COMPLETED]
    pauses.note_successes(completed)
    for funding in failed:
        pauses.note_failure(funding=funding, now=now)
    concerned = _perhaps_low({each.tenant_id for each in completed})
    for tenant_id in sorted(concerned | {each.tenant_id for each in failed}):
        evaluate_safely(tenant_id=tenant_id, now=now)


def _perhaps_low(tenant_ids: Collection[str]) -> set[str]:
    """Those of the tenants for whom `evaluate` would do anything: the balance is low, or was and
    nobody has noted that it recovered."""
    configs = AutoFundingConfig.objects.filter(one_of("tenant_id", tenant_ids), enabled=True)
    rows = list(configs.values_list("tenant_id", "low_balance_threshold", "low_since"))
    funds = balances.summaries([tenant_id for tenant_id, _, _ in rows]) if rows else {}
    return {
        tenant_id
        for tenant_id, threshold, low_since in rows
        if low_since is not None or (threshold is not None and funds[tenant_id].is_below(threshold))
    }


@by(WORKER)
@judged
def sweep(*, now: datetime) -> int:
    """Evaluate every tenant that is low and might fire; returns how many did."""
    sweeps.each(balances.recovered_tenants(), _look_after_recovery, failure="auto_funding_failed")
    low = balances.low_tenants(now=now)
    return sweeps.each(low, partial(_evaluate_unless_idle, now=now), failure="auto_funding_failed")


@transaction.atomic
def _look_after_recovery(tenant_id: str) -> int:
    """Forget that the balance is low: it rose without auto-funding, or its mark was removed."""
    funds = ledger.lock_row(tenant_id=tenant_id)
    if funds.notify_below is None or funds.available + funds.pending >= funds.notify_below:
        configs = AutoFundingConfig.objects.filter(tenant_id=tenant_id)
        configs.update(low_since=None, last_decline_reason="")
        ledger.note_low(tenant_id=tenant_id, until=None)
    return 1


@transaction.atomic
def _evaluate_unless_idle(tenant_id: str, *, now: datetime) -> int:
    """Evaluate one tenant under its lock; returns 1 if it fired. A tenant that cannot fire now is
    not looked at again before that can change."""
    ledger.lock_row(tenant_id=tenant_id)
    until = checks.idle_until(tenant_id=tenant_id, now=now)
    if until is not None:
        ledger.note_low(tenant_id=tenant_id, until=until)
        return 0
    return int(evaluate_safely(tenant_id=tenant_id, now=now))


def _situation(tenant_id: str, now: datetime) -> Situation | None:
    """The settings as they are under the lock, and the balance; None where auto-funding is off."""
    funds = ledger.lock_row(tenant_id=tenant_id)
    configs = AutoFundingConfig.objects.select_related("tenant")
    config = configs.filter(tenant_id=tenant_id, enabled=True).first()
    if config is None or config.low_balance_threshold is None or config.funding_amount is None:
        return None
    return Situation(
        config=config,
        funds=funds,
        threshold=config.low_balance_threshold,
        amount=config.funding_amount,
        now=now,
    )


def _fire(situation: Situation, attempt: Attempt) -> AutoFundingDecision:
    config, now = situation.config, situation.now
    deadline = requests.deadline(config.confirmation_threshold, amount=situation.amount, now=now)
    topup = lifecycle.TopUp(
        source_id=attempt.source.pk,
        amount=situation.amount,
        method=config.funding_method,
        trigger=Trigger.AUTO_FUNDING,
        description="Auto-funding",
    )
    funding = lifecycle.start(
        topup,
        tenant_id=config.tenant_id,
        network=attempt.network.name,
        confirm_until=deadline,
        actor=SYSTEM,
        now=now,
    )
    if attempt.authorization is not None:
        debit_authorizations.attach(attempt.authorization, funding=funding, now=now)
    reason = "below_threshold" if deadline is None else _ask(situation, funding)
    _update(
        config, last_triggered_at=now, last_decline_reason="", paused_reason="", paused_until=None
    )
    return _log(situation, DecisionOutcome.FIRED, reason, funding)


def _ask(situation: Situation, funding: FundingTransaction) -> str:
    """Ask the approvers; returns what the decision log says about it."""
    funds = situation.funds
    why = (
        f"The balance of {format_cents(funds.available)}, with {format_cents(funds.pending)} on"
        f" its way, is below {format_cents(situation.threshold)}."
    )
    approval = approvals.request(funding=funding, reason=why, now=situation.now)
    return "awaiting_confirmation" if approval.approvers else "awaiting_confirmation_nobody_asked"


def _decline(situation: Situation, refusal: Declined) -> AutoFundingDecision | None:
    """Write a refusal into the log and tell the tenant, unless it has the reason of the
    last one."""
    config = situation.config
    if refusal.reason == config.last_decline_reason:
        return None
    _update(config, last_decline_reason=refusal.reason)
    if refusal.is_news:
        notices.skipped(
            tenant=config.tenant,
            data=AutoFundingSkipped(
                reason=refusal.reason,
                available_balance=situation.funds.available,
                low_balance_threshold=situation.threshold,
                funding_amount=situation.amount,
            ),
            detail=refusal.detail,
            now=situation.now,
        )
    return _log(situation, DecisionOutcome.DECLINED, refusal.reason)


def _log(
    situation: Situation,
    outcome: DecisionOutcome,
    reason: str,
    funding: FundingTransaction | None = None,
) -> AutoFundingDecision:
    return AutoFundingDecision.objects.create(
        tenant_id=situation.config.tenant_id,
        outcome=outcome,
        reason=reason,
        available=situation.funds.available,
        in_flight=situation.funds.pending,
        threshold=situation.threshold,
        amount=situation.amount,
        funding=funding,
        created_at=situation.now,
    )


def _note_low(situation: Situation) -> None:
    """Remember when the balance fell below the threshold, and tell the tenant once."""
    config = situation.config
    if config.low_since is None:
        _update(config, low_since=situation.now)
        ledger.note_low(tenant_id=config.tenant_id, until=situation.now)
        notices.low(
            tenant=config.tenant,
            data=BalanceLow(
                available_balance=situation.funds.available,
                pending_balance=situation.funds.pending,
                low_balance_threshold=situation.threshold,
            ),
            now=situation.now,
        )


def _note_recovery(config: AutoFundingConfig) -> None:
    if config.low_since is not None:
        _update(config, low_since=None, last_decline_reason="")
        ledger.note_low(tenant_id=config.tenant_id, until=None)


def _update(config: AutoFundingConfig, **columns: object) -> None:
    for name, value in columns.items():
        setattr(config, name, value)
    config.save(update_fields=list(columns))
