"""Previews settings, saved or only typed: what they will do, and would have done until now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dashboard.auto_funding import state as auto_funding
from dashboard.auto_funding.form import AutoFundingForm
from dashboard.bank_accounts.names import account_name
from funding import selectors, simulation
from funding.models import AutoFundingConfig, FundingMethod
from funding.simulation import Rule
from tenants import selectors as tenants
from tenants.models import Role, Tenant


@dataclass(frozen=True)
class Preview:
    """`plan` is empty until a threshold and an amount are known."""

    plan: str = ""
    outcome: str = ""


def of_settings(config: AutoFundingConfig, *, now: datetime, is_held_up: bool = False) -> Preview:
    """What the saved settings do, or would do if nothing were in their way."""
    names = ("low_balance_threshold", "funding_amount", "confirmation_threshold", "monthly_limit")
    values: dict[str, Any] = {name: getattr(config, name) for name in names}
    values["source_id"] = config.source_id
    values["funding_method"] = config.funding_method
    values["confirmation_emails"] = config.confirmation_emails
    return _preview(values, tenant=config.tenant, now=now, is_held_up=is_held_up)


def of_form(form: AutoFundingForm, *, tenant: Tenant, now: datetime) -> Preview:
    """What a cleaned form would do, as far as it is filled in and makes sense."""
    return _preview(form.cleaned_data, tenant=tenant, now=now)


def _preview(
    values: dict[str, Any], *, tenant: Tenant, now: datetime, is_held_up: bool = False
) -> Preview:
    threshold, amount = values.get("low_balance_threshold"), values.get("funding_amount")
    if threshold is None or not amount:
        return Preview()
    rule = Rule(
        threshold=threshold,
        amount=amount,
        method=values.get("funding_method") or FundingMethod.ACH_DEBIT,
        mode=tenant.mode,
        monthly_limit=values.get("monthly_limit"),
    )
    plan = auto_funding.plan(
        amount=amount,
        threshold=threshold,
        account=_account(values.get("source_id"), tenant.pk),
        approval_above=values.get("confirmation_threshold"),
        approvers=_approvers(values, tenant.pk),
        monthly_limit=rule.monthly_limit,
        is_held_up=is_held_up,
    )
    tried = simulation.simulate(tenant_id=tenant.pk, rule=rule, now=now)
    return Preview(plan=plan, outcome=auto_funding.outcome(tried))


def _account(source_id: str | None, tenant_id: str) -> str:
    source = selectors.drawn_from(tenant_id=tenant_id, source_id=source_id)
    return account_name(source) if source else ""


def _approvers(values: dict[str, Any], tenant_id: str) -> Sequence[str]:
    if values.get("confirmation_threshold") is None:
        return ()
    named: list[str] = values.get("confirmation_emails") or []
    return named or tenants.member_emails(tenant_id=tenant_id, roles=(Role.OWNER, Role.APPROVER))
