"""Adding bank accounts: stores as a funding source what `drafts` has checked."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from funding import selectors
from funding.agreements import Agreement
from funding.errors import DuplicateFundingSource, TooManyFundingSources
from funding.models import FundingSource
from funding.services import (
    authorizations,
    consents,
    debit_authorizations,
    sources,
    verifications,
)
from funding.services.drafts import Draft
from funding.states import SourceStatus
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit

SOURCES_PER_TENANT_MAX = 20


@transaction.atomic
def add(
    *,
    tenant_id: str,
    draft: Draft,
    agreement: Agreement | None = None,
    actor: Actor,
    now: datetime,
) -> FundingSource:
    """Store a checked bank account. The tenant's first usable account becomes its default.
    `agreement` is what its holder agreed to.

    Additions of one tenant run one after the other, so that an account sent twice at once is
    refused as a duplicate. Raises DuplicateFundingSource, TooManyFundingSources,
    TooManyVerifications.
    """
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    source = _from_draft(tenant, draft, now)
    _require_room(source)
    authorizations.carry_over(source=source, actor=actor)
    source.is_default = draft.is_verified and not sources.has_default(tenant_id=tenant_id)
    if not draft.is_verified:
        verifications.require_allowed(source=source, now=now)
    source.save(force_insert=True)
    if draft.consent_id:
        consents.attach(consent_id=draft.consent_id, source=source)
    if not draft.is_verified:
        verifications.start(source=source, amounts=draft.deposits, now=now)
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="funding_source.added",
        subject_id=source.pk,
        details=sources.description(source),
        now=now,
    )
    if agreement is not None:
        debit_authorizations.record(source=source, agreement=agreement, actor=actor, now=now)
    return source


def _from_draft(tenant: Tenant, draft: Draft, now: datetime) -> FundingSource:
    """An unsaved source. It has its id already, because the encryption of the number is bound to
    it."""
    source = FundingSource(
        tenant=tenant,
        type=draft.type,
        status=SourceStatus.ACTIVE if draft.is_verified else SourceStatus.PENDING_VERIFICATION,
        verification_method=draft.verification_method,
        bank_name=draft.bank_name,
        link_account_id=draft.linked.account_id if draft.linked else "",
        supported_methods=draft.supported_methods,
        is_holder_known=draft.is_holder_known,
        created_at=now,
    )
    if draft.linked:
        source.fill(
            draft.account, shown_as=draft.linked.shown_as, lasting_id=draft.linked.lasting_id
        )
    else:
        source.fill(draft.account)
    source.fingerprint = selectors.called(source.fingerprints, tenant_id=tenant.pk)
    return source


def _require_room(source: FundingSource) -> None:
    known = selectors.known_by(source.fingerprints, tenant_id=source.tenant_id)
    if (existing := known.exclude(status=SourceStatus.REMOVED).first()) is not None:
        raise DuplicateFundingSource(
            f"This account is already here as {existing.pk}.", existing_id=existing.pk
        )
    kept = FundingSource.objects.filter(tenant=source.tenant).exclude(status=SourceStatus.REMOVED)
    if kept.count() >= SOURCES_PER_TENANT_MAX:
        raise TooManyFundingSources(f"A tenant has at most {SOURCES_PER_TENANT_MAX} bank accounts.")
