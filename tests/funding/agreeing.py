"""An individual's account of a live tenant, and what its holder agrees to."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from funding import agreements
from funding.agreements import Agreement
from funding.models import AuthorizationKind, DebitAuthorization, FundingSource
from funding.services import debit_authorizations, verifications
from tenants.actors import Actor, user
from tenants.models import Tenant
from tests.builders import NOW, make_source

PERSON = user("usr_dana")


def make_individual(tenant: Tenant, *, account_number: str = "000123456789") -> FundingSource:
    """An individual's account that is proven."""
    source = make_source(tenant, holder_type="individual", account_number=account_number)
    if source.status != "active":
        verifications.verify(
            tenant_id=tenant.pk, source_id=source.pk, amounts=[7, 31], actor=PERSON, now=NOW
        )
        source.refresh_from_db()
    return source


def agreement(kind: str = "recurring", **changes: Any) -> Agreement:
    """As an API key asserts it."""
    values = {
        "kind": AuthorizationKind(kind),
        "text": "I agree to be debited.",
        "accepted_at": NOW,
        "address": "203.0.113.7",
        "amount_max": None,
        **changes,
    }
    return agreements.asserted(**values)


def agree(
    source: FundingSource,
    kind: str = "recurring",
    *,
    actor: Actor = PERSON,
    now: datetime = NOW,
    **changes: Any,
) -> DebitAuthorization:
    """The holder of `source` agreed."""
    return debit_authorizations.record(
        source=source, agreement=agreement(kind, **changes), actor=actor, now=now
    )


def revoke(authorization: DebitAuthorization, *, now: datetime = NOW) -> DebitAuthorization:
    return debit_authorizations.revoke(
        tenant_id=authorization.tenant_id, authorization_id=authorization.pk, actor=PERSON, now=now
    )
