"""What funding tests need: top-ups and the sweeps."""

from __future__ import annotations

from datetime import datetime

from funding.models import FundingMethod, FundingSource, FundingTransaction
from funding.services import topups
from funding.services.lifecycle import TopUp
from funding.transfer import FUNDING
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tests.builders import NOW, make_source
from transfers import submission
from transfers.inbox import messages


def top_up(
    tenant: Tenant,
    *,
    amount: int = 25_000,
    source: FundingSource | None = None,
    method: FundingMethod = FundingMethod.ACH_DEBIT,
    description: str = "",
    now: datetime = NOW,
) -> FundingTransaction:
    """A reserved top-up of the tenant."""
    source = source or make_source(tenant)
    return topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount, method=method, description=description),
        actor=SYSTEM,
        now=now,
    )


def run_due(*, now: datetime = NOW, rounds: int = 4) -> None:
    """Let everything that is due happen, as the sweeps would."""
    for _ in range(rounds):
        submission.submit_due(FUNDING, now=now)
        messages.process(FUNDING, now=now)
