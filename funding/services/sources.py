"""Bank accounts we may draw from: using, choosing and removing them. `linking` adds them.

Lock order: the tenant (when adding a source or moving the default), the source, the balance. Of the
rows of one account that was removed and added again, the oldest comes first. A funding that starts
holds its source FOR KEY SHARE, which only a removal (FOR UPDATE) excludes: nothing starts on a
removed source, and nobody else waits for a top-up. A removal takes that lock last, once it has the
balance, and without waiting. So whoever holds the balance never waits for a source.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from django.db import transaction

from common.engine import sql
from common.engine.lookups import one_of
from common.errors import NotFound
from common.ids import is_id
from funding import selectors
from funding.errors import (
    FundingMethodNotSupported,
    FundingSourceInUse,
    FundingSourceNotAuthorized,
    FundingSourceNotVerified,
    FundingSourceUnusable,
)
from funding.methods import METHODS
from funding.models import DepositEntry, FundingSource, FundingTransaction
from funding.services import consents, debit_authorizations, notices, pauses
from funding.states import IN_FLIGHT, SOURCE_STATES, SourceStatus
from networks import return_codes
from networks.base import HolderType
from networks.return_codes import ReturnCode
from tenants.actors import Actor
from tenants.models import Tenant
from tenants.services import audit
from webhooks.bodies import FundingSourceUpdated
from webhooks.services import events

# This row lock keeps a source from being removed until the transaction ends.
LOCK_FOR_USE = """
SELECT {columns} FROM funding_fundingsource
WHERE tenant_id = %(tenant_id)s AND id = %(id)s FOR KEY SHARE
"""

T = TypeVar("T")


class Standing(NamedTuple):
    """The columns of a source that decide whether it may be debited."""

    status: str
    supported_methods: Sequence[str]
    last_return_code: str
    authorization_ended_at: datetime | None
    account_holder_type: str


def find(*, tenant_id: str, source_id: str) -> FundingSource:
    """A source of the tenant, removed or not. Raises NotFound, also for a malformed id."""
    rows = FundingSource.objects.filter(tenant_id=tenant_id, pk=source_id)
    return found(is_id(source_id, "fs") and rows.first())


def read_again(rows: Sequence[FundingTransaction] | Sequence[DepositEntry]) -> None:
    """Give rows that were claimed before their bank accounts as they are now. One query."""
    found = FundingSource.objects.filter(one_of("pk", {row.source_id for row in rows}))
    now_stored = {source.pk: source for source in found}
    for row in rows:
        row.source = now_stored[row.source_id]


def require_usable(*, source: FundingSource | Standing, method: str) -> None:
    """Raises FundingSourceNotVerified, FundingSourceUnusable, FundingMethodNotSupported."""
    if source.status == SourceStatus.PENDING_VERIFICATION:
        raise FundingSourceNotVerified(
            "This bank account waits for its two deposits to be verified.", field="fundingSourceId"
        )
    if source.status != SourceStatus.ACTIVE:
        raise FundingSourceUnusable(why_unusable(source), field="fundingSourceId")
    if method not in source.supported_methods:
        raise FundingMethodNotSupported(
            f"This bank account does not support {METHODS[method].words}.",
            field="fundingMethod",
            supported_methods=list(source.supported_methods),
        )


def require_debitable(*, source: FundingSource | Standing, method: str) -> None:
    """Raises FundingSourceNotAuthorized, and what `require_usable` raises."""
    require_usable(source=source, method=method)
    if source.authorization_ended_at is not None:
        raise FundingSourceNotAuthorized(why_not_authorized(source), field="fundingSourceId")


def hold(*, tenant_id: str, source_id: str) -> FundingSource:
    """Lock a source so that it cannot be removed before the caller's transaction ends. Raises
    NotFound. Whoever holds the balance row may call it: it never waits then."""
    statement = LOCK_FOR_USE.format(columns=sql.columns(FundingSource))
    values = {"tenant_id": tenant_id, "id": source_id}
    row = found(is_id(source_id, "fs") and sql.first(statement, values))
    return sql.instance(FundingSource, row)


@transaction.atomic
def make_default(*, tenant_id: str, source_id: str, actor: Actor, now: datetime) -> FundingSource:
    """Make a usable source the tenant's default. Repeatable.

    Raises NotFound, FundingSourceNotVerified, FundingSourceUnusable.
    """
    source = lock_for_change(tenant_id=tenant_id, source_id=source_id)
    require_usable(source=source, method=source.supported_methods[0])
    if source.is_default:
        return source
    FundingSource.objects.filter(tenant_id=tenant_id, is_default=True).update(is_default=False)
    source.is_default = True
    source.save(update_fields=("is_default",))
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="funding_source.default_set",
        subject_id=source.pk,
        details=description(source),
        now=now,
    )
    return source


@transaction.atomic
def tell_holder(
    *, tenant_id: str, source_id: str, holder_type: HolderType, actor: Actor, now: datetime
) -> FundingSource:
    """Record whose account it is, where the provider did not tell. It is said once: a second answer
    changes nothing. Raises NotFound."""
    source = lock_for_change(tenant_id=tenant_id, source_id=source_id)
    if source.is_holder_known:
        return source
    source.is_holder_known, source.account_holder_type = True, holder_type
    source.save(update_fields=("is_holder_known", "account_holder_type"))
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="funding_source.holder_told",
        subject_id=source.pk,
        details={**description(source), "kind": str(holder_type)},
        now=now,
    )
    return source


@transaction.atomic
def remove(*, tenant_id: str, source_id: str, actor: Actor, now: datetime) -> FundingSource:
    """Never draw from this account again, and pause the auto-funding that used it. Repeatable.

    If it was the default account, the tenant has to choose another one: no account is debited just
    because another one was removed. Raises NotFound, and FundingSourceInUse while funding from it
    starts or is on its way.
    """
    source = find(tenant_id=tenant_id, source_id=source_id)
    # Checked twice: first without the lock, so that a refused removal blocks nobody.
    _require_idle(source)
    source = FundingSource.objects.select_for_update(no_key=True).get(pk=source.pk)
    if source.status == SourceStatus.REMOVED:
        return source
    pauses.pause_where_used(source=source, reason=notices.SOURCE_REMOVED, now=now)
    _exclude_users(source)
    _require_idle(source)
    set_status(
        source=source, status=SourceStatus.REMOVED, now=now, removed_at=now, is_default=False
    )
    consents.release(source=source, now=now)
    debit_authorizations.end_all(
        source=source, because=debit_authorizations.ACCOUNT_REMOVED, actor=actor, now=now
    )
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="funding_source.removed",
        subject_id=source.pk,
        details=description(source),
        now=now,
    )
    return source


def note_rejection(*, source: FundingSource, code: str, now: datetime) -> None:
    """React to a network's refusal to move money. It says something about the account only if its
    code ends the account or the authorization to debit it."""
    known = return_codes.ALL.get(code)
    if known is not None and (known.ends_account or known.ends_authorization):
        note_return(source=source, return_code=code, now=now)


@transaction.atomic
def note_return(*, source: FundingSource, return_code: str, now: datetime) -> None:
    """Remember why the bank sent money back, and stop using an account that has ended.

    Any return of the two deposits ends a verification. The account may have been removed and added
    again before the return. The bank means the account, so a code that ends the account, or the
    authorization to debit it, also counts for its present row. `source` is brought up to date.
    """
    answer = return_codes.lookup(return_code)
    _remember(source, return_code, now)
    if source.status == SourceStatus.PENDING_VERIFICATION:
        set_status(source=source, status=SourceStatus.VERIFICATION_FAILED, now=now)
    again = selectors.same_account_now(source)
    if again.pk != source.pk and (answer.ends_account or answer.ends_authorization):
        _remember(again, return_code, now)


@transaction.atomic
def note_deposit_back(*, source_id: str, code: str, now: datetime) -> None:
    """React to one of the entries of a verification that came back or was rejected, whatever for:
    the account is not used, also where it was proven before that."""
    source = FundingSource.objects.select_for_update(no_key=True).get(pk=source_id)
    note_return(source=source, return_code=code, now=now)
    if source.status == SourceStatus.ACTIVE:
        set_status(source=source, status=SourceStatus.ERRORED, now=now)


def _remember(source: FundingSource, return_code: str, now: datetime) -> None:
    """Store the code, unless the row has one that keeps the account from being debited: people are
    shown that one."""
    source.refresh_from_db(from_queryset=FundingSource.objects.select_for_update(no_key=True))
    answer = return_codes.lookup(return_code)
    if not _outweighed(answer, by=source):
        source.last_return_code = return_code
    if answer.ends_authorization:
        source.authorization_ended_at = now
        debit_authorizations.end_all(source=source, because=return_code[:40], now=now)
    source.save(update_fields=("last_return_code", "authorization_ended_at"))
    if source.status == SourceStatus.ACTIVE and answer.ends_account:
        set_status(source=source, status=SourceStatus.ERRORED, now=now)


def _outweighed(answer: ReturnCode, *, by: FundingSource) -> bool:
    """Whether an earlier code weighs more: it ended the account or the authorization, and this one
    does not."""
    if by.status == SourceStatus.ERRORED:
        return not answer.ends_account
    ends = answer.ends_account or answer.ends_authorization
    return by.authorization_ended_at is not None and not ends


def lock_for_change(*, tenant_id: str, source_id: str) -> FundingSource:
    """Lock a source and its tenant, so that the default can be moved. Raises NotFound."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    rows = FundingSource.objects.select_for_update(no_key=True)
    row = is_id(source_id, "fs") and rows.filter(tenant_id=tenant_id, pk=source_id).first()
    return found(row)


def set_status(
    *, source: FundingSource, status: SourceStatus, now: datetime, **changes: Any
) -> None:
    """Move a locked source to `status` and tell the tenant. Raises IllegalTransition."""
    SOURCE_STATES.advance(source, status, **changes)
    tell_programs(source=source, now=now)


def tell_programs(*, source: FundingSource, now: datetime) -> None:
    """Publish that a source has changed."""
    events.publish_notice(
        tenant_id=source.tenant_id,
        data=FundingSourceUpdated(
            funding_source_id=source.pk,
            status=str(source.status),
            last_return_code=source.last_return_code or None,
        ),
        now=now,
    )


def activate(*, source: FundingSource, now: datetime, **changes: Any) -> None:
    """Make a locked source usable, because it was verified. Where there is no default it becomes
    the default."""
    changes["is_default"] = not has_default(tenant_id=source.tenant_id)
    set_status(source=source, status=SourceStatus.ACTIVE, now=now, **changes)


def has_default(*, tenant_id: str) -> bool:
    return FundingSource.objects.filter(tenant_id=tenant_id, is_default=True).exists()


def description(source: FundingSource) -> dict[str, object]:
    """What the audit log says of a source."""
    return {
        "type": str(source.type),
        "bankName": source.bank_name,
        "last4": source.last4,
        "routingNumber": source.routing_number,
    }


def found(source: T | Literal[False] | None) -> T:
    """The row that was looked for. Raises NotFound where there is none."""
    if not source:
        raise NotFound("There is no such funding source.")
    return source


def _exclude_users(source: FundingSource) -> None:
    """Let nobody start a funding from a source before this transaction ends. Raises
    FundingSourceInUse where one starts at this moment.

    It must not wait: whoever starts a funding holds the source and waits for the balance row, which
    a removal holds. (The users must not be the ones who skip what is locked: PostgreSQL waits all
    the same where the row was updated since their statement began.)
    """
    if FundingSource.objects.select_for_update(skip_locked=True).filter(pk=source.pk).first():
        return
    raise FundingSourceInUse("Funding from this bank account starts at this moment.")


def _require_idle(source: FundingSource) -> None:
    if FundingTransaction.objects.filter(source=source, status__in=IN_FLIGHT).exists():
        raise FundingSourceInUse("Funding from this bank account is still on its way.")


def why_unusable(source: FundingSource | Standing) -> str:
    """A sentence that says why a source that is not active cannot be used."""
    match source.status:
        case SourceStatus.REMOVED:
            return "This bank account was removed."
        case SourceStatus.ERRORED:
            return f"The bank no longer lets us use this account ({source.last_return_code})."
    return "The deposits to this bank account were never verified."


def why_not_authorized(source: FundingSource | Standing) -> str:
    """Two sentences for a source that may not be debited: why, and what to do."""
    return (
        f"The account holder's authorization has ended ({source.last_return_code})."
        " A person has to confirm a new one in the dashboard, under Bank accounts."
    )
