"""Whether an account may be debited: what the bank said, and what a person said after that.

A return that ends the authorization (Nacha R05, R07, R10, R29 and similar codes) stops every debit
that no network has seen, until a person confirms that the account holder agrees again. An API key
cannot confirm that: a program only repeats what it was written to send.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common import clock
from common.engine.wakeups import enqueue_on_commit
from common.ids import is_id
from funding import selectors
from funding.agreements import Agreement
from funding.errors import AuthorizationChanged, FundingSourceNotAuthorized
from funding.models import AutoFundingConfig, FundingSource
from funding.services import debit_authorizations, sources
from tenants.actors import Actor
from tenants.models import ActorType
from tenants.services import audit


@transaction.atomic
def renew(
    *,
    tenant_id: str,
    source_id: str,
    seen: str,
    agreement: Agreement | None = None,
    actor: Actor,
    now: datetime,
) -> FundingSource:
    """Record that the account holder agrees to debits again, on the word of `actor`. Repeatable.
    `agreement` is what the holder of an individual's account agreed to.

    `seen` is the `version_of` the source that the person was shown. Raises NotFound,
    AuthorizationChanged when the bank has refused a debit again since then, and
    FundingSourceNotAuthorized to an API key.
    """
    source = lock(tenant_id=tenant_id, source_id=source_id)
    if agreement is not None:
        debit_authorizations.record(source=source, agreement=agreement, actor=actor, now=now)
    if source.authorization_ended_at is None:
        return source
    if seen != version_of(source):
        raise AuthorizationChanged("The bank has refused another debit meanwhile.")
    renew_locked(source=source, actor=actor, now=now)
    enqueue_on_commit("funding.evaluate_auto_funding", tenant_id=tenant_id)
    return source


def renew_locked(*, source: FundingSource, actor: Actor, now: datetime) -> None:
    """Renew the authorization of a source that the caller has locked.

    Raises FundingSourceNotAuthorized.
    """
    if actor.type == ActorType.API_KEY:
        raise FundingSourceNotAuthorized(sources.why_not_authorized(source))
    source.authorization_ended_at = None
    source.save(update_fields=("authorization_ended_at",))
    audit.record(
        tenant_id=source.tenant_id,
        actor=actor,
        action="funding_source.authorized",
        subject_id=source.pk,
        details={**sources.description(source), "returnCode": source.last_return_code},
        now=now,
    )


def carry_over(*, source: FundingSource, actor: Actor) -> None:
    """Copy the end of an authorization to an unsaved source that an API key adds, from the row of
    the same account that was removed: the program brings no new agreement of the account holder.

    The new row also gets what the bank says later about an earlier debit, whoever adds it.
    """
    same = selectors.known_by([source.fingerprint], tenant_id=source.tenant_id)
    known = list(same.select_for_update(no_key=True).order_by("created_at", "pk"))
    if not known or actor.type != ActorType.API_KEY:
        return
    before = selectors.same_account_now(known[-1])
    if before.authorization_ended_at is not None:
        source.authorization_ended_at = before.authorization_ended_at
        source.last_return_code = before.last_return_code


def lock(*, tenant_id: str, source_id: str) -> FundingSource:
    """Lock a source so that its authorization cannot change before the caller's transaction ends.
    Raises NotFound. Take this lock before the balance row's."""
    rows = FundingSource.objects.select_for_update(no_key=True)
    row = is_id(source_id, "fs") and rows.filter(tenant_id=tenant_id, pk=source_id).first()
    return sources.found(row)


def ended_at(config: AutoFundingConfig) -> datetime | None:
    """When the authorization of the account that `config` draws on ended; None where it has not.

    One query.
    """
    source = selectors.drawn_from(tenant_id=config.tenant_id, source_id=config.source_id)
    return source.authorization_ended_at if source else None


def version_of(source: FundingSource) -> str:
    """A text that names this end of the authorization; empty where it has not ended."""
    ended = source.authorization_ended_at
    return clock.text_of(ended) if ended else ""
