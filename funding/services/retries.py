"""A returned debit, tried once more: by a person, or by the tenant's rule.

A retry is a funding of its own that names the first one (`retry_of`). The first stays failed, so
the books say what happened when. What the scheme allows is in `networks.schemes`; the network that
takes the retry asks the same again.

Lock order: the first funding and its retries, then as for every top-up the source, its
authorizations, the balance. So of two retries at the same moment the second sees the first, and one
that meets a return of the retry before waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet

from common import sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from common.errors import DomainError, NotFound
from common.ids import is_id
from funding.errors import RetryNotPossible
from funding.methods import METHODS
from funding.models import AFTER_DAYS_MAX, FundingTransaction, RetryRule, Trigger
from funding.services import debit_authorizations, topup_terms, topups
from funding.services.lifecycle import TopUp
from funding.states import IN_FLIGHT, FundingStatus
from networks import calendar
from networks.base import EventKind, Method
from networks.schemes import RETRIED, RETRIES_MAX, RETRY_WITHIN
from tenants.actors import SYSTEM, Actor
from tenants.models import Tenant, TenantStatus
from tenants.services import audit
from transfers.inbox import telling

log = structlog.get_logger(__name__)

AFTER_DAYS = 3  # banking days, where nobody chose
# The rule gives up so long after a retry was due, when limits or the account stood in its way.
GIVES_UP_AFTER = timedelta(days=5)
_BATCH = 200


@dataclass(frozen=True)
class Standing:
    """A funding with the fundings that tried it again, oldest first. `obstacle` says in a sentence
    why it cannot be tried again now; empty where it can, as far as limits and the account allow."""

    original: FundingTransaction
    retries: Sequence[FundingTransaction]
    obstacle: str


def is_retriable(funding: FundingTransaction) -> bool:
    """Whether it came back for a reason for which debits may be tried again at all."""
    is_debit = METHODS[funding.method].network_method == Method.ACH_DEBIT
    return is_debit and funding.returned and funding.return_code in RETRIED


def standing(original: FundingTransaction, *, mode: str, now: datetime) -> Standing:
    """What a page says about it. One query."""
    retries = list(_retries(original.pk).order_by("pk"))
    return Standing(original, retries, _obstacle(original, retries, mode, now))


@transaction.atomic
def start(
    *, tenant_id: str, mode: str, funding_id: str, actor: Actor, now: datetime
) -> FundingTransaction:
    """Try a returned debit again: the same amount, from the same account, for the same holder.

    Raises NotFound, RetryNotPossible, and what a top-up raises.
    """
    original, retries = _lock(tenant_id, funding_id)
    if obstacle := _obstacle(original, retries, mode, now):
        raise RetryNotPossible(obstacle)
    topup = TopUp(
        source_id=original.source_id,
        amount=original.amount,
        method=original.method,
        description=original.description,
        metadata=original.metadata,
        retry_of=original.pk,
    )
    terms = topup_terms.lock(
        tenant_id=tenant_id, mode=mode, source_id=topup.source_id, method=topup.method
    )
    authorization = debit_authorizations.for_retry(
        original, mode=mode, holder_type=terms.holder_type
    )
    return topups.reserve(
        topup,
        terms,
        authorization,
        tenant_id=tenant_id,
        network=original.network,
        actor=actor,
        now=now,
    )


# --- The tenant's rule


def rule(tenant_id: str) -> RetryRule:
    """The tenant's rule, or one that does nothing."""
    found = RetryRule.objects.filter(tenant_id=tenant_id).first()
    return found or RetryRule(tenant_id=tenant_id, times=0, after_days=AFTER_DAYS)


@transaction.atomic
def set_rule(
    *, tenant_id: str, times: int, after_days: int, actor: Actor, now: datetime
) -> RetryRule:
    """Choose what happens with what comes back from now on. Raises ValueError out of range."""
    if times not in range(RETRIES_MAX + 1) or after_days not in range(1, AFTER_DAYS_MAX + 1):
        raise ValueError("such a rule cannot be")
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    before = rule(tenant_id)
    if (before.times, before.after_days) == (times, after_days) and before.since:
        return before
    found, _ = RetryRule.objects.update_or_create(
        tenant_id=tenant_id, defaults={"times": times, "after_days": after_days, "since": now}
    )
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="tenant.retry_rule_changed",
        subject_id=tenant_id,
        details={"times": times, "afterDays": after_days},
        now=now,
    )
    return found


@by(WORKER)
@judged
def run_due(*, now: datetime) -> int:
    """Start the retries that rules demand; returns how many. One that is refused holds up no
    other, and is tried again until it has been due for long."""
    due = [
        (rule.tenant_id, rule.tenant.mode, found.pk)
        for rule in RetryRule.objects.filter(
            times__gt=0, tenant__status=TenantStatus.ACTIVE
        ).select_related("tenant")
        for found in _due(rule, now)
    ]
    return sweeps.each(due, lambda each: _start_due(*each, now=now), failure="retry_not_started")


def _start_due(tenant_id: str, mode: str, funding_id: str, *, now: datetime) -> bool:
    try:
        start(tenant_id=tenant_id, mode=mode, funding_id=funding_id, actor=SYSTEM, now=now)
    except DomainError as refusal:
        log.info("retry_refused", funding_id=funding_id, because=type(refusal).__name__)
        return False
    return True


def _due(rule: RetryRule, now: datetime) -> Iterator[FundingTransaction]:
    """Returned top-ups that the rule tries again now. Auto-funding has a rule of its own, which
    asks for what is missing then."""
    longest = timedelta(days=3 * AFTER_DAYS_MAX * (rule.times + 1)) + GIVES_UP_AFTER
    rows = FundingTransaction.objects.filter(
        tenant_id=rule.tenant_id,
        failed_at__gte=max(rule.since, now - longest),
        return_code__in=RETRIED,
        retry_of=None,
    ).exclude(trigger=Trigger.AUTO_FUNDING)
    for row in rows.prefetch_related("retries").order_by("failed_at")[:_BATCH]:
        retries = list(row.retries.all())
        if len(retries) < rule.times and _is_due(row, retries, rule, now):
            yield row


def _is_due(
    row: FundingTransaction,
    retries: Sequence[FundingTransaction],
    rule: RetryRule,
    now: datetime,
) -> bool:
    last = max(retries, key=lambda each: each.pk, default=row)
    if last.returned_at is None or last.return_code not in RETRIED:
        return False
    came = last.returned_at.astimezone(calendar.EASTERN).date()
    due_at = calendar.opening_of_business(calendar.add_banking_days(came, rule.after_days))
    return due_at <= now < due_at + GIVES_UP_AFTER


# --- What the scheme allows


def _lock(
    tenant_id: str, funding_id: str
) -> tuple[FundingTransaction, Sequence[FundingTransaction]]:
    """The funding and its retries, locked in the order of their ids. Raises NotFound."""
    if is_id(funding_id, "ftx"):
        mine = FundingTransaction.objects.filter(tenant_id=tenant_id)
        rows = mine.filter(Q(pk=funding_id) | Q(retry_of=funding_id)).order_by("pk")
        found = {row.pk: row for row in rows.select_for_update(no_key=True)}
        if funding_id in found:
            # A retry that began before the lock was there is not among those rows.
            return found[funding_id], list(_retries(funding_id).order_by("pk"))
    raise NotFound("There is no such funding transaction.")


def _retries(funding_id: str) -> QuerySet[FundingTransaction]:
    return FundingTransaction.objects.filter(retry_of=funding_id).select_related("source")


def _obstacle(
    original: FundingTransaction,
    retries: Sequence[FundingTransaction],
    mode: str,
    now: datetime,
) -> str:
    if original.retry_of_id is not None:
        return "It is a retry itself: the first debit is tried again, or not."
    if not is_retriable(original):
        codes = " or ".join(sorted(RETRIED))
        return f"Only a debit that the bank returned with {codes} is tried again."
    return _of_retries(retries) or _of_banks(original, retries) or _of_time(original, mode, now)


def _of_retries(retries: Sequence[FundingTransaction]) -> str:
    if any(row.status in IN_FLIGHT for row in retries):
        return "It is being tried again already."
    if any(row.status == FundingStatus.COMPLETED for row in retries):
        return "It was tried again, and the money came."
    came_back = [row for row in retries if row.returned]
    if other := [row.return_code for row in came_back if row.return_code not in RETRIED]:
        return f"A retry came back with {other[0]}, so it is not tried again."
    if len(came_back) >= RETRIES_MAX:
        return f"It was tried again {RETRIES_MAX} times, and no more is allowed."
    return ""


def _of_banks(original: FundingTransaction, retries: Sequence[FundingTransaction]) -> str:
    """A dishonored return brings the money back, unless the other bank contests that."""
    disputes = {EventKind.RETURN_DISHONORED, EventKind.RETURN_CONTESTED}
    for row in (original, *(each for each in retries if each.returned)):
        said = [event.kind for event in telling.besides(row.pk) if event.kind in disputes]
        if said and said[-1] == EventKind.RETURN_DISHONORED:
            return "Our bank does not accept the return, so the money may come without a retry."
    return ""


def _of_time(original: FundingTransaction, mode: str, now: datetime) -> str:
    method = METHODS[original.method]
    network = method.network(mode)
    if network is None or network.name != original.network:
        return "The bank that sent it is not used any more."
    settled = original.settlement_date or original.expected_availability_date
    if method.terms(mode).expected_on(now) > settled + RETRY_WITHIN:
        return f"The first debit is more than {RETRY_WITHIN.days} days old."
    return ""
