"""What an answer, or new settings, do to the funding that people were asked about."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from approvals import outcomes
from approvals.matters import Decider, Matter
from approvals.models import Decision
from balance import services as ledger
from common.engine.wakeups import enqueue_on_commit
from common.errors import RuleViolation
from funding.errors import NoLongerFits
from funding.methods import NETWORK_METHOD
from funding.models import (
    AutoFundingConfig,
    Confirmation,
    ConfirmationLink,
    FundingSource,
    FundingTransaction,
    Trigger,
)
from funding.services import auto_funding_month, lifecycle, limits, pauses, sources
from funding.states import FundingStatus
from networks import calendar
from tenants import selectors as tenants
from tenants.actors import SYSTEM, Actor
from tenants.models import Role

SUPERSEDED = "confirmation_superseded"


def approvers(*, tenant_id: str) -> list[str]:
    """Who is asked now: the addresses in the settings, else the tenant's owners and approvers."""
    configs = AutoFundingConfig.objects.filter(tenant_id=tenant_id)
    named = configs.values_list("confirmation_emails", flat=True).first()
    return named or tenants.member_emails(tenant_id=tenant_id, roles=(Role.OWNER, Role.APPROVER))


def void(question: Confirmation, *, by: Actor, now: datetime) -> None:
    """Withdraw a locked question whose terms have changed, and its funding with it."""
    outcomes.decide(MATTER, question, Decision.SUPERSEDED, decided_by=by.id, now=now)
    end_funding(
        question,
        code=SUPERSEDED,
        message="The auto-funding settings changed before anybody approved.",
        actor=by,
        now=now,
    )


def void_open(*, tenant_id: str, by: Actor, now: datetime) -> None:
    """Withdraw the automatic funding that waits for approval.

    For a caller who holds the balance row, so this waits for nobody: a question that somebody is
    deciding at this moment is left alone. That decision came first, or `is_current` refuses it.
    """
    waiting = FundingTransaction.objects.filter(
        tenant_id=tenant_id,
        trigger=Trigger.AUTO_FUNDING,
        status=FundingStatus.AWAITING_CONFIRMATION,
    )
    for funding in waiting.select_for_update(skip_locked=True, no_key=True):
        void(_questions().get(funding=funding), by=by, now=now)


def end_funding(
    question: Confirmation, *, code: str, message: str, actor: Actor, now: datetime
) -> None:
    """Fail the funding that was asked about. Unless its terms merely changed, automatic funding
    now waits as after any failure."""
    lifecycle.move(
        funding=question.funding,
        target=FundingStatus.FAILED,
        actor=actor,
        now=now,
        reason=message,
        failure_code=code,
        failure_message=message[:300],
    )
    if question.decision != Decision.SUPERSEDED:
        pauses.note_failure(funding=question.funding, now=now)
    enqueue_on_commit("funding.evaluate_auto_funding", tenant_id=question.tenant_id)


def stale() -> QuerySet[Confirmation]:
    """Open questions about automatic funding that today's settings would not start any more."""
    default_source = FundingSource.objects.filter(
        tenant_id=OuterRef("tenant_id"), is_default=True
    ).values("pk")
    settings = "tenant__autofundingconfig__"
    open_ones = Confirmation.objects.filter(
        decision=Decision.OPEN, funding__trigger=Trigger.AUTO_FUNDING
    )
    return open_ones.annotate(
        source_now=Coalesce(settings + "source_id", Subquery(default_source))
    ).exclude(
        **{
            settings + "enabled": True,
            settings + "funding_amount": F("amount"),
            settings + "funding_method": F("funding__method"),
            "source_now": F("source_id"),
        }
    )


def is_current(question: Confirmation) -> bool:
    """Whether its terms still are those of the settings. What people ask for always is."""
    return not stale().filter(pk=question.pk).exists()


def _questions() -> QuerySet[Confirmation]:
    return Confirmation.objects.select_related("funding__source", "source", "tenant")


def _lock_funding(confirmation_id: str) -> None:
    funding = FundingTransaction.objects.filter(confirmation=confirmation_id)
    funding.select_for_update(no_key=True, of=("self",)).get()


def _asked_now(question: Confirmation) -> list[str]:
    return approvers(tenant_id=question.tenant_id)


def _require_possible(question: Confirmation, _by: Decider, now: datetime) -> None:
    """Judged by what holds at the approval: the account, and the limits of this day and month."""
    sources.require_debitable(source=question.source, method=question.funding.method)
    try:
        _check_limits(question.funding, now)
    except RuleViolation as refusal:
        stays_open = "Nothing was added. Decline it, or approve it once there is room."
        raise NoLongerFits(f"{refusal.detail} {stays_open}") from refusal


def _check_limits(funding: FundingTransaction, now: datetime) -> None:
    """Under the balance row's lock. The funding itself, which counts already, is left out.

    Raises AmountAboveLimit, DailyLimitExceeded, MonthlyLimitExceeded.
    """
    tenant_id, amount = funding.tenant_id, funding.amount
    in_force = limits.of(tenant_id)
    limits.check_transaction(in_force, method=funding.method, amount=amount)
    ledger.lock_row(tenant_id=tenant_id)
    used = limits.usage(tenant_id=tenant_id, now=now, apart_from=funding.pk)
    limits.check_sums(in_force, used, amount=amount)
    if funding.trigger == Trigger.AUTO_FUNDING:
        _check_month(funding, now)


def _check_month(funding: FundingTransaction, now: datetime) -> None:
    """The month's limit of the settings. Raises MonthlyLimitExceeded."""
    configs = AutoFundingConfig.objects.filter(tenant_id=funding.tenant_id)
    auto_funding_month.check(
        configs.values_list("monthly_limit", flat=True).first(),
        tenant_id=funding.tenant_id,
        amount=funding.amount,
        now=now,
        apart_from=funding.pk,
    )


def _reserve(question: Confirmation, by: Actor, now: datetime) -> None:
    method = NETWORK_METHOD[question.funding.method]
    lifecycle.move(
        funding=question.funding,
        target=FundingStatus.RESERVED,
        actor=by,
        now=now,
        reason="approved",
        next_attempt_at=now,
        expected_availability_date=calendar.expected_availability(method, now),
    )
    enqueue_on_commit("funding.submit_due")


def _void_if_stale(question: Confirmation, now: datetime) -> bool:
    if is_current(question):
        return False
    void(question, by=SYSTEM, now=now)
    return True


MATTER = Matter(
    kind="funding",
    subject="funding",
    subject_prefix="ftx",
    questions=_questions,
    links=ConfirmationLink,
    lock_subject=_lock_funding,
    approvers=_asked_now,
    allow=_require_possible,
    go_ahead=_reserve,
    stop=end_funding,
    withdraw_if_stale=_void_if_stale,
)
