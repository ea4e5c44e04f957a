"""Everything that keeps auto-funding from adding money, each as a tenant can be brought into it.

Each is its reason in the API, with what brings it about once a tenant has an account and a rule:
below $100.00, add $500.00.
"""

from __future__ import annotations

from collections.abc import Callable

from common.clock import utc_now
from funding.models import AutoFundingConfig, FundingLimit, FundingSource, Trigger
from funding.services import pauses, sources
from funding.states import FundingStatus
from tenants.actors import SYSTEM
from tenants.models import Tenant, TenantStatus
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import make_auto_funding, make_funding, make_source
from tests.funding.agreeing import agree, revoke


def ready(tenant: Tenant) -> None:
    """Nothing is in the way."""
    make_source(tenant)
    make_auto_funding(tenant)


def _configured(tenant: Tenant, **settings: object) -> None:
    AutoFundingConfig.objects.filter(tenant=tenant).update(**settings)


def _source(tenant: Tenant, **columns: object) -> None:
    FundingSource.objects.filter(tenant=tenant).update(**columns)


def _limited(tenant: Tenant, **limits: int) -> None:
    FundingLimit.objects.create(tenant=tenant, **limits)


def _funded(tenant: Tenant, trigger: Trigger) -> None:
    """$500.00 came in, today."""
    source = FundingSource.objects.get(tenant=tenant)
    make_funding(
        tenant,
        source,
        amount=50_000,
        status=FundingStatus.COMPLETED,
        trigger=trigger,
        created_at=utc_now(),
    )


def _capped(tenant: Tenant) -> None:
    _configured(tenant, monthly_limit=50_000)
    _funded(tenant, Trigger.AUTO_FUNDING)


def _over_a_day(tenant: Tenant) -> None:
    _limited(tenant, daily_max=99_999)
    _funded(tenant, Trigger.TOPUP)


def _over_a_month(tenant: Tenant) -> None:
    _limited(tenant, monthly_max=99_999)
    _funded(tenant, Trigger.TOPUP)


def _without_account(tenant: Tenant) -> None:
    _source(tenant, is_default=False)


def _removed(tenant: Tenant) -> None:
    source = FundingSource.objects.get(tenant=tenant)
    sources.remove(tenant_id=tenant.pk, source_id=source.pk, actor=SYSTEM, now=utc_now())


def _unverified(tenant: Tenant) -> None:
    _configured(tenant, source_id=make_source(tenant, account_number="50001").pk)


def _stopped(tenant: Tenant, **what: str) -> None:
    switches.engage(
        kind=SwitchKind.FUNDING, reason="Bank is odd", actor=SYSTEM, now=utc_now(), **what
    )


def _suspended(tenant: Tenant) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(status=TenantStatus.SUSPENDED)


def _paused(tenant: Tenant) -> None:
    pauses.pause_by_hand(tenant_id=tenant.pk, actor=SYSTEM, now=utc_now())


def _revoked(tenant: Tenant) -> None:
    kept = agree(FundingSource.objects.get(tenant=tenant), now=utc_now())
    revoke(kept, now=utc_now())


OBSTACLES: list[tuple[str, Callable[[Tenant], None]]] = [
    ("auto_funding_monthly_limit", _capped),
    ("daily_limit_exceeded", _over_a_day),
    ("monthly_limit_exceeded", _over_a_month),
    ("amount_above_limit", lambda tenant: _limited(tenant, ach_transaction_max=49_999)),
    ("no_funding_source", _without_account),
    ("funding_source_not_verified", _unverified),
    ("funding_source_unusable", lambda t: _source(t, status="errored", last_return_code="R02")),
    (
        "funding_source_not_authorized",
        lambda t: _source(t, authorization_ended_at=utc_now(), last_return_code="R10"),
    ),
    ("funding_method_not_supported", lambda t: _source(t, supported_methods=["rtp"])),
    ("tenant_suspended", _suspended),
    ("paused_by_a_person", _paused),
    ("funding_source_removed", _removed),
    ("authorization_revoked", _revoked),
    ("funding_stopped", _stopped),
    ("funding_stopped", lambda tenant: _stopped(tenant, network="sandbox")),
    ("funding_stopped", lambda tenant: _stopped(tenant, tenant_id=tenant.pk)),
]
