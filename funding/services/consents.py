"""Consents of linked bank accounts: kept while an account needs them, revoked afterwards.

A new consent is stored before it is used, and is due to be revoked some minutes later. The
transaction that adds the account cancels that. So whatever fails in between, no consent is left
behind. The provider is called outside any transaction. Revoking twice does no harm, so it is
repeated when an answer was lost.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import structlog

from common import leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.engine.wakeups import enqueue_on_commit
from funding.models import FundingSource, LinkConsent
from networks import links
from networks.links.base import LinkError

log = structlog.get_logger(__name__)

BATCH = 10
# Longer than any request takes that turns a consent into a bank account.
UNUSED_AFTER = timedelta(minutes=15)
# Longer than a batch can take: one call per row, each as long as the provider's adapter allows.
LEASE = timedelta(minutes=3)
RETRY_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 24 * 60))


def keep(*, tenant_id: str, provider: str, secret: str, now: datetime) -> LinkConsent:
    """Store a new consent. It is revoked soon unless an account is attached in time."""
    consent = LinkConsent(
        tenant_id=tenant_id,
        provider=provider,
        created_at=now,
        next_attempt_at=now + UNUSED_AFTER,
    )
    consent.encrypt(secret)
    consent.save(force_insert=True)
    return consent


def attach(*, consent_id: str, source: FundingSource) -> None:
    """Keep the consent as long as its account. To be called in the transaction that adds the
    account."""
    unclaimed = LinkConsent.objects.filter(pk=consent_id, source=None, lease_version=0)
    if unclaimed.update(source=source, next_attempt_at=None) != 1:
        raise RuntimeError(f"{consent_id} is being revoked already")


def release(*, source: FundingSource, now: datetime) -> None:
    """Have the consent of a removed account revoked, if there is one."""
    if LinkConsent.objects.filter(source=source, revoked_at=None).update(next_attempt_at=now):
        enqueue_on_commit("funding.revoke_consents")


def discard(*, consent_id: str, now: datetime) -> None:
    """Revoke a consent that no account came of now instead of later."""
    LinkConsent.objects.filter(pk=consent_id, source=None, lease_version=0).update(
        next_attempt_at=now
    )
    enqueue_on_commit("funding.revoke_consents")


@by(WORKER)
@judged
def revoke_due(*, now: datetime) -> int:
    """Revoke the consents that are due; returns how many were claimed."""
    claimed, since, consents = 0, time.monotonic(), LinkConsent.objects.all()
    while rows := leases.claim(consents, now=now, limit=BATCH, lease=LEASE, since=since):
        for consent in rows:
            _revoke_safely(consent, now)
        claimed += len(rows)
    return claimed


def _revoke_safely(consent: LinkConsent, now: datetime) -> None:
    """Revoke one consent. An error is logged, so that the other consents are not held up."""
    provider = links.named(consent.provider)
    try:
        if provider is None:
            raise LinkError("the provider is not connected")
        provider.revoke(consent.in_clear())
    except LinkError as error:
        _try_again_later(consent, now, type(error).__name__)
    except Exception:
        log.exception("consent_not_revoked", consent_id=consent.pk)
        _try_again_later(consent, now, "unexpected")
    else:
        leases.finish(consent, revoked_at=now, secret_token="")


def _try_again_later(consent: LinkConsent, now: datetime, reason: str) -> None:
    delay = RETRY_AFTER[min(consent.attempts, len(RETRY_AFTER)) - 1]
    log.warning("consent_kept_for_now", consent_id=consent.pk, reason=reason)
    leases.finish(consent, next_attempt_at=now + delay)
