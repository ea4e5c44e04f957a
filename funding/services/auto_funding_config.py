"""Changing a tenant's auto-funding settings.

The balance row's lock is taken first, so that an evaluation sees either all of a change or nothing.
"""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import TypedDict

from django.db import transaction

from balance import services as ledger
from common import clock
from common.engine.wakeups import enqueue_on_commit
from common.errors import RuleViolation
from funding import selectors
from funding.agreements import Agreement
from funding.errors import (
    AutoFundingChanged,
    FundingMethodNotSupported,
    FundingSourceNotAuthorized,
    IncompleteAutoFunding,
)
from funding.models import AutoFundingConfig, FundingSource
from funding.services import (
    approval_policy,
    authorizations,
    auto_funding,
    debit_authorizations,
    limits,
    pauses,
    safeguards,
    sources,
)
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit
from transfers.errors import AmountAboveLimit

CONFIRMATION_EMAILS_MAX = 10
# What an approver is shown: a change of any of these withdraws the open approval.
TERMS = ("enabled", "funding_amount", "funding_method", "source_id")
# What the holder of an individual's account agrees to.
_AUTHORIZED = {"enabled", "funding_amount", "funding_method", "source_id", "monthly_limit"}
_REQUIRED = {
    "low_balance_threshold": "lowBalanceThreshold",
    "funding_amount": "fundingAmount",
    "funding_method": "fundingMethod",
}


class Changes(TypedDict, total=False):
    """What to change. A setting that is left out keeps its value. Amounts are cents."""

    enabled: bool
    low_balance_threshold: int
    funding_amount: int
    funding_method: str
    confirmation_threshold: int | None
    source_id: str | None
    monthly_limit: int | None
    confirmation_emails: list[str]
    confirm_topups: bool


@transaction.atomic
def configure(
    *,
    tenant_id: str,
    changes: Changes,
    seen: str | None = None,
    agreement: Agreement | None = None,
    actor: Actor,
    now: datetime,
) -> None:
    """Change the settings, then add money at once if the balance is low.

    `enabled: True` also ends any pause. `seen` is the `version_of` the settings that the person was
    shown; None changes whatever is saved. `agreement` is what the account holder agreed to for the
    new settings. Raises IncompleteAutoFunding, FundingMethodNotSupported, AmountAboveLimit,
    NotFound for an unknown source, AutoFundingChanged when the saved settings are not `seen`,
    FundingSourceNotAuthorized where the account holder has to agree again first,
    AuthorizationRequired where the holder has not agreed to these amounts, LooseningNotAllowed for
    a key whose switch is off, and TooManySafeguardChanges.
    """
    if agreement is not None:
        _keep(agreement, tenant_id, changes, actor, now)
    ledger.lock_row(tenant_id=tenant_id)
    asked_until_now = approval_policy.approvers(tenant_id=tenant_id)
    saved = AutoFundingConfig.objects.filter(tenant_id=tenant_id).first()
    config = saved or AutoFundingConfig(tenant_id=tenant_id)
    if seen not in {None, version_of(config)}:
        raise AutoFundingChanged("Somebody has changed the settings meanwhile.")
    before = copy(config)
    for name, value in changes.items():
        setattr(config, name, value)
    safeguards.require_allowed(before=before, after=config, actor=actor)
    _check(config, changes)
    _require_authorization(config, changes)
    changed = _difference(before, config)
    if changed or saved is None:
        _save(config, changed, actor, now)
    if saved is not None:
        safeguards.warn(
            before=before, after=config, approvers=asked_until_now, actor=actor, now=now
        )
    if changes.get("enabled"):
        pauses.resume(tenant_id=tenant_id, actor=actor, now=now)
    if not changed.keys().isdisjoint(TERMS):
        approval_policy.withdraw_open(tenant_id=tenant_id, by=actor, now=now)
    auto_funding.evaluate_safely(tenant_id=tenant_id, now=now)


@transaction.atomic
def resume(
    *, tenant_id: str, seen: str, source_id: str | None = None, actor: Actor, now: datetime
) -> None:
    """End the pause, or the bank's refusal of debits, that a person was shown as `seen` (a
    `standing_of`). To end a refusal is to say that the account holder agrees again. Changes nothing
    where auto-funding runs already. `source_id` is the account that the person means.

    Raises AutoFundingChanged when the standing is another one by now, and what `configure` raises.
    """
    source = _lock_drawn(tenant_id)
    if source_id is not None and (source is None or source.pk != source_id):
        raise AutoFundingChanged("Auto-funding draws on another account by now.")
    ended = source.authorization_ended_at if source else None
    ledger.lock_row(tenant_id=tenant_id)
    config = selectors.auto_funding_config(tenant_id=tenant_id)
    if config.enabled and not pauses.is_paused(config, now) and ended is None:
        return
    if seen != standing_of(config, ended=ended):
        raise AutoFundingChanged("Auto-funding was changed meanwhile.")
    if source is not None and ended is not None:
        authorizations.renew_locked(source=source, actor=actor, now=now)
    configure(tenant_id=tenant_id, changes={"enabled": True}, actor=actor, now=now)


def standing_of(config: AutoFundingConfig, *, ended: datetime | None) -> str:
    """A text that names these settings, why they wait, and when the bank `ended` the authorization.
    It changes with any of them."""
    times = (clock.text_of(time) if time else "" for time in (config.paused_until, ended))
    return " ".join((version_of(config), config.paused_reason, *times))


def version_of(config: AutoFundingConfig) -> str:
    """A text that names these settings: it changes with every change of them."""
    return clock.text_of(config.updated_at) if config.updated_at else "never saved"


def _check(config: AutoFundingConfig, changes: Changes) -> None:
    """Refuse changes that cannot work. Only what the changes ask for is judged, so that
    auto-funding can always be switched off."""
    if changes.get("source_id"):
        sources.hold(tenant_id=config.tenant_id, source_id=str(changes["source_id"]))
    if config.enabled:
        for column, field in _REQUIRED.items():
            if getattr(config, column) in {None, ""}:
                raise IncompleteAutoFunding(f"To enable it, set {field}.", field=field)
        if _chooses_account(changes) or "funding_method" in changes:
            _require_source(config)
    if changes.get("enabled") or not changes.keys().isdisjoint(
        {"funding_amount", "funding_method"}
    ):
        _require_amount_within_limit(config)


def _keep(
    agreement: Agreement, tenant_id: str, changes: Changes, actor: Actor, now: datetime
) -> None:
    """Record what the account holder agreed to, before the balance row is locked."""
    source_id = changes.get("source_id")
    chosen = authorizations.lock(tenant_id=tenant_id, source_id=source_id) if source_id else None
    source = chosen or _lock_drawn(tenant_id)
    if source is not None:
        debit_authorizations.record(source=source, agreement=agreement, actor=actor, now=now)


def _require_authorization(config: AutoFundingConfig, changes: Changes) -> None:
    """Refuse amounts beyond what the account holder agreed to. Raises AuthorizationRequired."""
    source_id = selectors.auto_funding_source_id(config) if config.enabled else None
    if source_id is None or changes.keys().isdisjoint(_AUTHORIZED):
        return
    debit_authorizations.for_rule(
        config,
        sources.find(tenant_id=config.tenant_id, source_id=source_id),
        mode=Tenant.objects.get(pk=config.tenant_id).mode,
        amount=config.funding_amount or 0,
    )


def _chooses_account(changes: Changes) -> bool:
    """Whether the changes say which account to draw on from now on."""
    return bool(changes.get("enabled")) or "source_id" in changes


def _require_source(config: AutoFundingConfig) -> None:
    source_id = selectors.auto_funding_source_id(config)
    if source_id is None:
        raise IncompleteAutoFunding(
            "Name a bank account, or make one the default.", field="fundingSourceId"
        )
    source = sources.hold(tenant_id=config.tenant_id, source_id=source_id)
    try:
        sources.require_debitable(source=source, method=config.funding_method)
    except (FundingMethodNotSupported, FundingSourceNotAuthorized):
        raise
    except RuleViolation as refusal:
        raise IncompleteAutoFunding(refusal.detail, field="fundingSourceId") from refusal


def _lock_drawn(tenant_id: str) -> FundingSource | None:
    """Lock the account that auto-funding draws on. To be called before the balance row is
    locked."""
    source_id = selectors.auto_funding_source_id(selectors.auto_funding_config(tenant_id=tenant_id))
    return authorizations.lock(tenant_id=tenant_id, source_id=source_id) if source_id else None


def _require_amount_within_limit(config: AutoFundingConfig) -> None:
    if config.funding_amount is None or not config.funding_method:
        return
    try:
        limits.check_transaction(
            limits.of(config.tenant_id), method=config.funding_method, amount=config.funding_amount
        )
    except AmountAboveLimit as refusal:
        raise AmountAboveLimit(refusal.detail, field="fundingAmount", **refusal.extra) from refusal


def _difference(before: AutoFundingConfig, after: AutoFundingConfig) -> dict[str, list[object]]:
    """Each setting that changed: its old and its new value."""
    pairs = {
        name: [getattr(before, name), getattr(after, name)] for name in Changes.__annotations__
    }
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _save(
    config: AutoFundingConfig, changed: dict[str, list[object]], actor: Actor, now: datetime
) -> None:
    config.updated_at = now
    config.last_decline_reason = ""
    if not config.enabled:
        config.paused_reason, config.paused_until = "", None
        config.failures_in_a_row, config.low_since = 0, None
    config.save()
    if "confirmation_emails" in changed:
        enqueue_on_commit("funding.sweep_confirmations")
    ledger.set_notify_below(
        tenant_id=config.tenant_id,
        amount=config.low_balance_threshold if config.enabled else None,
    )
    audit.record(
        tenant_id=config.tenant_id,
        actor=actor,
        action="auto_funding.configured",
        subject_id=config.pk,
        details=dict(changed),
        now=now,
    )
