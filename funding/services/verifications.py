"""Proving a bank account by its two micro-deposits: three tries, ten days, any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet

from common import sweeps
from common.database_clock import judged
from common.engine.wakeups import enqueue_on_commit
from common.errors import DomainError
from funding import selectors
from funding.errors import (
    TooManyVerifications,
    VerificationAmountsWrong,
    VerificationExpired,
    VerificationNotPending,
)
from funding.models import FundingSource, SourceVerification
from funding.services import drafts, sources
from funding.states import VERIFICATION_TRIES_MAX, SourceStatus
from tenants.actors import Actor
from tenants.models import Mode
from tenants.services import audit

VALID_FOR = timedelta(days=10)
# Removing an account and adding it again must not give more tries or more deposits.
PER_ACCOUNT_MAX = 2
PER_ACCOUNT_WITHIN = timedelta(days=30)
_BATCH = 500


@dataclass(frozen=True)
class Verdict:
    """The outcome of one try. A refusal is returned and not raised, because the try has to stay
    counted."""

    source: FundingSource
    refusal: DomainError | None = None


def require_allowed(*, source: FundingSource, now: datetime) -> None:
    """Raises TooManyVerifications for an account of a live tenant that was tried too often."""
    same = selectors.known_by([source.fingerprint], tenant_id=source.tenant_id)
    earlier = SourceVerification.objects.filter(
        source__in=same, created_at__gt=now - PER_ACCOUNT_WITHIN
    )
    if source.tenant.mode == Mode.LIVE and earlier.count() >= PER_ACCOUNT_MAX:
        raise TooManyVerifications(
            f"Deposits went to this account {PER_ACCOUNT_MAX} times in the last "
            f"{PER_ACCOUNT_WITHIN.days} days."
        )


def start(*, source: FundingSource, amounts: tuple[int, int] | None, now: datetime) -> None:
    """Store the deposits (cents) as due work. `amounts` is None where a network is to choose them
    when it is connected, as for rows of an older release."""
    SourceVerification.objects.create(
        source=source, amounts=list(amounts or ()), created_at=now, next_attempt_at=now
    )
    enqueue_on_commit("funding.process_verifications")


@judged
@transaction.atomic
def verify(
    *, tenant_id: str, source_id: str, amounts: Sequence[int], actor: Actor, now: datetime
) -> Verdict:
    """Compare two amounts (cents) with the deposits. Tries of one source run one after the other,
    so that a burst of guesses gets no extra try.

    The refusals in the verdict, after the try was counted: VerificationAmountsWrong,
    VerificationExpired. Raises NotFound, VerificationNotPending.
    """
    source = sources.lock_for_change(tenant_id=tenant_id, source_id=source_id)
    verification = _open_verification(source)
    if verification.expires_at is not None and verification.expires_at <= now:
        _fail(source, now)
        return Verdict(source, VerificationExpired("The ten days to verify this account are over."))
    if sorted(amounts) == sorted(verification.amounts):
        _succeed(source, verification, actor, now)
        return Verdict(source)
    return Verdict(source, _count_try(source, verification, amounts, actor, now))


@judged
def expire_due(*, now: datetime) -> int:
    """End the verifications that have expired; returns how many. The next sweep continues a long
    queue."""
    source_ids = _overdue(now).order_by("expires_at").values_list("source_id", flat=True)[:_BATCH]
    return sweeps.each(
        list(source_ids),
        lambda source_id: _expire(source_id, now),
        failure="verification_not_expired",
    )


def _overdue(now: datetime) -> QuerySet[SourceVerification]:
    return SourceVerification.objects.filter(
        source__status=SourceStatus.PENDING_VERIFICATION, expires_at__lte=now
    )


@transaction.atomic
def _expire(source_id: str, now: datetime) -> bool:
    """End one verification if it has expired. Checked again under the lock, because deposits that
    were sent again have ten more days."""
    FundingSource.objects.select_for_update(no_key=True).get(pk=source_id)
    return _overdue(now).filter(source=source_id).exists() and fail(source_id=source_id, now=now)


@transaction.atomic
def fail(*, source_id: str, now: datetime) -> bool:
    """End a verification that is still open; returns False when it was not."""
    source = FundingSource.objects.select_for_update(no_key=True).get(pk=source_id)
    if source.status != SourceStatus.PENDING_VERIFICATION:
        return False
    _fail(source, now)
    return True


def _open_verification(source: FundingSource) -> SourceVerification:
    """The open verification of a locked source."""
    verification = SourceVerification.objects.filter(source=source).first()
    if source.status == SourceStatus.PENDING_VERIFICATION and verification:
        if not verification.amounts:
            raise VerificationNotPending("The deposits have not been sent yet.")
        return verification
    is_used_up = verification is not None and verification.tries_used >= VERIFICATION_TRIES_MAX
    if is_used_up and source.status == SourceStatus.VERIFICATION_FAILED:
        raise VerificationAmountsWrong(
            "You have no attempts left. Remove this bank account and add it again.",
            attempts_remaining=0,
        )
    raise VerificationNotPending(f"This bank account is {source.status}.")


def _succeed(
    source: FundingSource, verification: SourceVerification, actor: Actor, now: datetime
) -> None:
    verification.verified_at = now
    verification.save(update_fields=("verified_at",))
    methods = drafts.methods_of(source.tenant.mode)
    sources.activate(source=source, now=now, supported_methods=methods)
    audit.record(
        tenant_id=source.tenant_id,
        actor=actor,
        action="funding_source.verified",
        subject_id=source.pk,
        details=sources.description(source),
        now=now,
    )


def _count_try(
    source: FundingSource,
    verification: SourceVerification,
    amounts: Sequence[int],
    actor: Actor,
    now: datetime,
) -> VerificationAmountsWrong:
    verification.tries_used += 1
    if _is_last_try(source, amounts):
        verification.tries_used = VERIFICATION_TRIES_MAX
    verification.save(update_fields=("tries_used",))
    remaining = VERIFICATION_TRIES_MAX - verification.tries_used
    audit.record(
        tenant_id=source.tenant_id,
        actor=actor,
        action="funding_source.verification_tried",
        subject_id=source.pk,
        details={**sources.description(source), "attemptsRemaining": remaining},
        now=now,
    )
    if remaining == 0:
        _fail(source, now)
    return VerificationAmountsWrong(
        "These are not the amounts of the two deposits.", attempts_remaining=remaining
    )


def _is_last_try(source: FundingSource, amounts: Sequence[int]) -> bool:
    """Whether these amounts leave no other try, as the network of a test account may say."""
    network = drafts.debiting_network(source.tenant.mode)
    last = network.capabilities.verification.last_try if network else None
    return last is not None and sorted(amounts) == sorted(last)


def _fail(source: FundingSource, now: datetime) -> None:
    sources.set_status(source=source, status=SourceStatus.VERIFICATION_FAILED, now=now)
