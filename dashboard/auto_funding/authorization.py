"""What the account holder agrees to when auto-funding is set up or goes further than before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from funding import agreements
from funding.agreements import Wording
from funding.models import FundingSource
from funding.services import debit_authorizations
from tenants.models import Tenant


def wording(
    settings: Mapping[str, Any], *, tenant: Tenant, source: FundingSource | None
) -> Wording | None:
    """The text for these settings, named like their columns, and the account that they draw on.

    None where nothing is asked: it is off or not complete, the account needs none, or what was
    agreed to before allows it.
    """
    amount, threshold = settings.get("funding_amount"), settings.get("low_balance_threshold")
    if not settings.get("enabled") or not amount or threshold is None:
        return None
    method = settings.get("funding_method")
    if source is None or not method:
        return None
    if not debit_authorizations.is_asked_of(source, mode=tenant.mode, method=method):
        return None
    limit = settings.get("monthly_limit")
    if debit_authorizations.covering(source.pk, amount=amount, monthly_limit=limit):
        return None
    return agreements.rule(
        source,
        tenant_name=tenant.name,
        amount=amount,
        threshold=threshold,
        monthly_limit=limit,
    )
