"""Adding a bank account through the provider's own widget, on a page of ours.

The provider is called outside any database transaction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from common import crypto
from common.errors import DomainError
from funding.agreements import Agreement
from funding.errors import LinkProviderUnavailable
from funding.models import FundingSource
from funding.services import consents, drafts, linking
from networks import bank_details, links
from networks.base import HolderType
from networks.links.base import HostedLinks, LinkModule
from tenants.actors import Actor


@dataclass(frozen=True, kw_only=True)
class LinkSession:
    """What a page needs to run the provider's module for one person."""

    token: str
    module: LinkModule


def is_offered(*, mode: str) -> bool:
    """Whether tenants of `mode` can link an account in a provider's module."""
    return links.hosted(mode) is not None


def begin(*, tenant_id: str, person: str, mode: str, return_url: str | None) -> LinkSession:
    """Start the provider's module for a person of a tenant. Raises LinkProviderUnavailable.

    The provider learns neither the tenant nor the person. It gets an id that stays the same for the
    person.
    """
    provider = _provider(mode)
    known_as = crypto.fingerprint(f"{tenant_id}:{person}", purpose="link_person")
    with drafts.refusals():
        token = provider.start(person=known_as, return_url=return_url)
    return LinkSession(token=token, module=provider.module)


def resume(*, token: str, mode: str) -> LinkSession:
    """The session of a token that `begin` gave out. Raises LinkProviderUnavailable."""
    return LinkSession(token=token, module=_provider(mode).module)


def finish(
    *,
    tenant_id: str,
    mode: str,
    public_token: str,
    account_id: str,
    holder_name: str,
    agreement: Agreement | None = None,
    actor: Actor,
    now: datetime,
) -> FundingSource:
    """Turn what the module handed over into a bank account of the tenant. `agreement` is kept
    where the account is an individual's.

    Raises what `drafts.exchange` and `linking.add` do.
    """
    bank_details.checked_holder_name(holder_name)
    provider = _provider(mode)
    with drafts.refusals():
        secret = provider.accept(public_token)
    consent = consents.keep(tenant_id=tenant_id, provider=provider.name, secret=secret, now=now)
    try:
        with drafts.refusals():
            linked = provider.open(secret, account_id)
        draft = drafts.of_linked(
            linked,
            mode=mode,
            account_id=account_id,
            holder_name=holder_name,
            consent_id=consent.pk,
        )
        is_meant = draft.account.holder_type == HolderType.INDIVIDUAL
        return linking.add(
            tenant_id=tenant_id,
            draft=draft,
            agreement=agreement if is_meant else None,
            actor=actor,
            now=now,
        )
    except DomainError:
        consents.discard(consent_id=consent.pk, now=now)
        raise


def _provider(mode: str) -> HostedLinks:
    provider = links.hosted(mode)
    if provider is None:
        raise LinkProviderUnavailable("No bank-linking provider is connected yet.")
    return provider
