"""What funding tests need: bank accounts, top-ups, and the sweeps."""

from __future__ import annotations

from datetime import datetime

from common import crypto
from funding.models import (
    FundingMethod,
    FundingSource,
    FundingTransaction,
    SourceType,
    VerificationMethod,
)
from funding.services import network_events, submission, topups
from funding.services.topups import TopUp
from funding.states import SourceStatus
from tenants.actors import SYSTEM
from tenants.models import Tenant
from tests.builders import NOW


def make_source(
    tenant: Tenant, *, account_number: str = "123456789", routing_number: str = "021000021"
) -> FundingSource:
    """An active, manually entered bank account whose number scripts the sandbox bank."""
    source = FundingSource(
        tenant=tenant,
        type=SourceType.MANUAL,
        status=SourceStatus.ACTIVE,
        verification_method=VerificationMethod.SANDBOX,
        bank_name="JPMorgan Chase",
        routing_number=routing_number,
        last4=account_number[-4:],
        fingerprint=crypto.fingerprint(f"{routing_number}:{account_number}", purpose="test"),
        account_holder_name="Acme Inc",
        account_holder_type="business",
        account_type="checking",
        supported_methods=list(FundingMethod.values),
        created_at=NOW,
    )
    source.account_number_token = crypto.encrypt(account_number, context=source.encryption_context)
    source.save()
    return source


def top_up(
    tenant: Tenant,
    *,
    amount: int = 25_000,
    source: FundingSource | None = None,
    method: FundingMethod = FundingMethod.ACH_DEBIT,
    now: datetime = NOW,
) -> FundingTransaction:
    """A reserved top-up of the tenant."""
    source = source or make_source(tenant)
    return topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount, method=method),
        actor=SYSTEM,
        now=now,
    )


def run_due(*, now: datetime = NOW, rounds: int = 4) -> None:
    """Let everything that is due happen, as the sweeps would."""
    for _ in range(rounds):
        submission.submit_due(now=now)
        network_events.process(now=now)
