"""Authorizations of debits: recording them, finding the one that a debit is made on, ending them.

A live tenant's ACH debit of an individual's account needs one (Nacha Operating Rules, 2.3.2).
Businesses agree to all debits when they sign up, and the sandbox refuses nothing; what is recorded
for them all the same is kept likewise.

Lock order: the source, its authorizations, the balance. A debit is checked when it is created, and
again right before it is sent (`authorization_checks`); an end is never dated before a debit that
was let through.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from common import ids
from common.engine.wakeups import enqueue_on_commit
from common.errors import NotFound
from common.money import format_cents
from funding.agreements import Agreement
from funding.errors import AuthorizationRequired, InvalidAuthorization
from funding.methods import METHODS
from funding.models import (
    AuthorizationKind,
    AuthorizationScope,
    AuthorizedDebit,
    AutoFundingConfig,
    DebitAuthorization,
    FundingSource,
    FundingTransaction,
)
from funding.services import notices, pauses
from funding.services.lifecycle import TopUp
from networks.base import HolderType, Method
from tenants.actors import SYSTEM, Actor
from tenants.models import ActorType, Mode
from tenants.services import audit

K, S = AuthorizationKind, AuthorizationScope

REVOKED = "revoked"
REPLACED = "replaced"
ACCOUNT_REMOVED = "account_removed"

# Before it nobody agreed to anything here.
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_ASK = "The holder of this account has not authorized this debit."


# --- Which debits need one


def is_asked(*, mode: str, holder_type: str, method: str) -> bool:
    """Whether such a debit needs a recorded authorization."""
    is_debit = METHODS[method].network_method == Method.ACH_DEBIT
    return mode == Mode.LIVE and holder_type == HolderType.INDIVIDUAL and is_debit


def is_asked_of(source: FundingSource, *, mode: str, method: str) -> bool:
    """Whether debits of this account by `method` need a recorded authorization."""
    return is_asked(mode=mode, holder_type=source.account_holder_type, method=method)


# --- Recording


@transaction.atomic
def record(
    *, source: FundingSource, agreement: Agreement, actor: Actor, now: datetime
) -> DebitAuthorization:
    """Keep what the holder of `source` agreed to, on the word of `actor`, and mail a copy of it.
    Raises InvalidAuthorization for a moment that cannot be."""
    if not _FIRST <= agreement.accepted_at <= now:
        raise InvalidAuthorization(
            "Nobody can have agreed at that moment.", field="authorization.acceptedAt"
        )
    wording = agreement.wording
    row = DebitAuthorization.objects.create(
        id=ids.new("dau"),
        tenant_id=source.tenant_id,
        source=source,
        kind=wording.kind,
        scope=wording.scope,
        text=wording.text,
        text_version=wording.version,
        amount_rule=wording.amount_rule,
        amount_max=wording.amount_max,
        monthly_max=wording.monthly_max,
        revocation=wording.revocation,
        accepted_at=agreement.accepted_at,
        address=agreement.address,
        accepted_by_type=actor.type,
        accepted_by_id=actor.id,
        created_at=now,
    )
    if row.scope == S.AUTO_FUNDING:
        older = DebitAuthorization.objects.filter(source=source, scope=S.AUTO_FUNDING)
        _end(older.exclude(pk=row.pk), because=REPLACED, actor=actor, now=now)
    _audit(row, "recorded", source, actor, now)
    # A program that brings one with each top-up has the account holder's copy to give itself.
    if actor.type != ActorType.API_KEY or row.kind == K.RECURRING:
        notices.authorized(authorization=row, source=source, now=now)
    return row


# --- The one that a debit is made on


def for_topup(
    *, tenant_id: str, mode: str, holder_type: str, topup: TopUp, actor: Actor, now: datetime
) -> DebitAuthorization | None:
    """The authorization of a top-up: the one that comes with it, or one that was recorded before.
    None where none is needed.

    The caller holds the source, and not yet the balance. Of two top-ups with one single
    authorization the second waits for the first. Raises AuthorizationRequired.
    """
    source_id, amount = topup.source_id, topup.amount
    if topup.agreement is not None:
        source = FundingSource.objects.get(tenant_id=tenant_id, pk=source_id)
        agreement = _for_one(topup.agreement, amount)
        return record(source=source, agreement=agreement, actor=actor, now=now)
    if not is_asked(mode=mode, holder_type=holder_type, method=topup.method):
        return None
    found = _recurring(source_id, S.TOPUPS, amount=amount) or _single(source_id, amount=amount)
    if found is None:
        raise AuthorizationRequired(_why_not(source_id, S.TOPUPS, amount), field="authorization")
    return found


def for_retry(
    original: FundingTransaction, *, mode: str, holder_type: str
) -> DebitAuthorization | None:
    """The authorization of the debit that is tried again: it is the same debit, so a single one
    serves once more. None where none is needed. Raises AuthorizationRequired."""
    found = of_debit(original)
    if found is not None and found.is_in_force:
        return found
    if not is_asked(mode=mode, holder_type=holder_type, method=original.method):
        return None
    raise AuthorizationRequired("The authorization of the first debit has ended.")


def for_rule(
    config: AutoFundingConfig, source: FundingSource, *, mode: str, amount: int
) -> DebitAuthorization | None:
    """The authorization of an automatic debit of `amount` cents. None where none is needed. It
    waits for nobody. Raises AuthorizationRequired."""
    if not is_asked_of(source, mode=mode, method=config.funding_method):
        return None
    found = covering(source.pk, amount=amount, monthly_limit=config.monthly_limit)
    if found is None:
        raise AuthorizationRequired(
            _why_not(source.pk, S.AUTO_FUNDING, amount), field="fundingSourceId"
        )
    return found


def covering(
    source_id: str, *, amount: int, monthly_limit: int | None
) -> DebitAuthorization | None:
    """The authorization in force that allows auto-funding these amounts (cents), if there is
    one."""
    return _recurring(source_id, S.AUTO_FUNDING, amount=amount, monthly_limit=monthly_limit)


def attach(
    authorization: DebitAuthorization, *, funding: FundingTransaction, now: datetime
) -> None:
    """Say that `funding`, which was just created, is made on this authorization. A single one
    serves only one, and its retries: the database refuses a second."""
    AuthorizedDebit.objects.create(
        id=ids.new("dad"),
        funding=funding,
        authorization=authorization,
        kind=authorization.kind,
        is_retry=funding.retry_of_id is not None,
        created_at=now,
    )


def in_force(source_id: str) -> QuerySet[DebitAuthorization]:
    """The authorizations of an account that have not ended, newest first. Some of them may be
    single ones that have served."""
    rows = DebitAuthorization.objects.filter(source_id=source_id, ended_at=None)
    return rows.order_by("-created_at", "-pk")


def is_ready(source_id: str) -> bool:
    """Whether a top-up from this account, of some amount, would find its authorization."""
    usable = Q(kind=K.RECURRING, scope__in=(S.TOPUPS, S.ACCOUNT)) | Q(kind=K.SINGLE, debits=None)
    return in_force(source_id).filter(usable).exists()


def of_debit(funding: FundingTransaction) -> DebitAuthorization | None:
    """The authorization that a funding was made on; None where it needed none."""
    return DebitAuthorization.objects.filter(debits__funding=funding).first()


# --- Ending


@transaction.atomic
def revoke(
    *, tenant_id: str, authorization_id: str, actor: Actor, now: datetime
) -> DebitAuthorization:
    """End an authorization because the account holder says so. Repeatable. What was not handed over
    fails when its turn comes, what has not left is taken back (`debit_withdrawals`), and automatic
    funding from the account stops if nothing else allows it. Raises NotFound."""
    row = find(tenant_id=tenant_id, authorization_id=authorization_id)
    source = FundingSource.objects.select_for_update(no_key=True).get(pk=row.source_id)
    rows = DebitAuthorization.objects.filter(pk=row.pk)
    if not _end(rows, because=REVOKED, actor=actor, now=now):
        return rows.get()
    _audit(row, "revoked", source, actor, now)
    enqueue_on_commit("funding.withdraw_debits")
    if row.kind == K.RECURRING and row.scope != S.TOPUPS:
        _stop_rule(source, now)
    return rows.get()


def end_all(*, source: FundingSource, because: str, actor: Actor = SYSTEM, now: datetime) -> None:
    """End every authorization of a source that the caller has locked: the account was removed, or
    the bank says (its return code) that debits are not authorized."""
    rows = DebitAuthorization.objects.filter(source=source)
    _end(rows, because=because, actor=actor, now=now)


def find(*, tenant_id: str, authorization_id: str) -> DebitAuthorization:
    """One authorization of the tenant. Raises NotFound, also for a malformed id."""
    rows = DebitAuthorization.objects.select_related("source").filter(tenant_id=tenant_id)
    row = ids.is_id(authorization_id, "dau") and rows.filter(pk=authorization_id).first()
    if not row:
        raise NotFound("There is no such authorization.")
    return row


def _end(rows: QuerySet[DebitAuthorization], *, because: str, actor: Actor, now: datetime) -> int:
    """End those of `rows` that have not ended, in the order of their ids; returns how many. The
    end is not before anything that they let through."""
    open_ones = list(rows.filter(ended_at=None).order_by("pk").select_for_update(no_key=True))
    for row in open_ones:
        seen = AuthorizedDebit.objects.filter(authorization=row).aggregate(at=Max("in_force_at"))
        row.ended_at = max(now, row.created_at, seen["at"] or now)
        row.ended_because = because
        row.ended_by_type, row.ended_by_id = actor.type, actor.id
        row.save(update_fields=("ended_at", "ended_because", "ended_by_type", "ended_by_id"))
    return len(open_ones)


def _stop_rule(source: FundingSource, now: datetime) -> None:
    """Pause the auto-funding that draws on `source`, unless another authorization allows it."""
    config = AutoFundingConfig.objects.filter(tenant_id=source.tenant_id).first()
    if config is None or not config.enabled or not pauses.draws_on(config, source):
        return
    amount, monthly_limit = config.funding_amount or 0, config.monthly_limit
    if covering(source.pk, amount=amount, monthly_limit=monthly_limit) is None:
        pauses.pause_where_used(source=source, reason=notices.AUTHORIZATION_REVOKED, now=now)


# --- Looking one up


def _recurring(
    source_id: str,
    scope: AuthorizationScope,
    *,
    amount: int,
    monthly_limit: int | None = None,
) -> DebitAuthorization | None:
    """The newest recurring one in force of this scope that allows these amounts (cents)."""
    within_month = Q(monthly_max=None)
    if monthly_limit is not None:
        within_month |= Q(monthly_max__gte=monthly_limit)
    rows = in_force(source_id).filter(kind=K.RECURRING, scope__in=(scope, S.ACCOUNT))
    return rows.filter(Q(amount_max=None) | Q(amount_max__gte=amount), within_month).first()


def _single(source_id: str, *, amount: int) -> DebitAuthorization | None:
    """The oldest single one that has not served, locked. Those that somebody else takes at this
    moment are waited for and passed over."""
    served = AuthorizedDebit.objects.filter(authorization=OuterRef("pk"))
    rows = in_force(source_id).filter(kind=K.SINGLE)
    rows = rows.filter(Q(amount_max=None) | Q(amount_max__gte=amount))
    unserved = rows.exclude(Exists(served)).order_by("created_at", "pk")
    for pk in unserved.values_list("pk", flat=True):
        row = DebitAuthorization.objects.select_for_update(no_key=True).get(pk=pk)
        if row.is_in_force and not row.debits.exists():
            return row
    return None


def _for_one(agreement: Agreement, amount: int) -> Agreement:
    """`agreement` as it is kept for a top-up of `amount` cents: a single one is for that amount.
    Raises AuthorizationRequired where the holder agreed to less."""
    wording = agreement.wording
    if wording.amount_max is not None and amount > wording.amount_max:
        raise AuthorizationRequired(
            f"The authorization is for at most {format_cents(wording.amount_max)}.",
            field="authorization",
        )
    if wording.kind == K.SINGLE and wording.amount_max is None:
        said = f"{wording.amount_rule.rstrip('.')}: {format_cents(amount)}, once."
        wording = replace(wording, amount_max=amount, amount_rule=said)
        return replace(agreement, wording=wording)
    return agreement


def _why_not(source_id: str, scope: AuthorizationScope, amount: int) -> str:
    """A sentence or two for a debit of `amount` cents without an authorization."""
    rows = in_force(source_id).filter(kind=K.RECURRING, scope__in=(scope, S.ACCOUNT))
    most = rows.filter(amount_max__lt=amount).aggregate(most=Max("amount_max"))["most"]
    if most is not None:
        return f"The account holder authorized at most {format_cents(most)} each time."
    return _ASK


def _audit(
    row: DebitAuthorization, what: str, source: FundingSource, actor: Actor, now: datetime
) -> None:
    audit.record(
        tenant_id=source.tenant_id,
        actor=actor,
        action=f"debit_authorization.{what}",
        subject_id=row.pk,
        details={
            "bankName": source.bank_name,
            "last4": source.last4,
            "kind": str(row.kind),
            "scope": str(row.scope),
        },
        now=now,
    )
