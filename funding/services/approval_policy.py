"""Who approves a large funding, and what happens to it after an answer or a change of settings."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from approvals import outcomes
from approvals.models import ApprovalStatus
from approvals.policies import ApprovalPolicy, Approver
from balance import services as ledger
from common.engine.wakeups import enqueue_on_commit
from common.errors import RuleViolation
from funding.errors import NoLongerFits
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
from tenants import selectors as tenants
from tenants.actors import SYSTEM, Actor
from tenants.models import Role

SUPERSEDED = "confirmation_superseded"


class FundingApprovalPolicy(ApprovalPolicy[Confirmation]):
    """A funding above the tenant's limit. What auto-funding asks for depends on its settings: when
    they change, the approval is withdrawn."""

    kind = "funding"
    id_prefix = "ftx"
    links = ConfirmationLink
    find_link = "SELECT tenant FROM funding_find_link(%(digest)s)"

    def approvals(self) -> QuerySet[Confirmation]:
        return Confirmation.objects.select_related("funding__source", "source", "tenant")

    def lock_subject(self, approval_id: str) -> None:
        funding = FundingTransaction.objects.filter(confirmation=approval_id)
        funding.select_for_update(no_key=True, of=("self",)).get()

    def approvers_of(self, approvals: Collection[Confirmation]) -> dict[str, list[str]]:
        tenants_now = _approvers_of({approval.tenant_id for approval in approvals})
        return {approval.pk: tenants_now[approval.tenant_id] for approval in approvals}

    def hold_settings(self, approval: Confirmation) -> None:
        """Whoever changes them holds the balance row's lock."""
        ledger.lock_row(tenant_id=approval.tenant_id)

    def require_approvable(self, approval: Confirmation, _by: Approver, now: datetime) -> None:
        """Judge the account and the limits as they are now, not as they were when the funding was
        asked for."""
        sources.require_debitable(source=approval.source, method=approval.funding.method)
        try:
            _check_limits(approval.funding, now)
        except RuleViolation as refusal:
            stays_open = "Nothing was added. Decline it, or approve it once there is room."
            raise NoLongerFits(f"{refusal.detail} {stays_open}") from refusal

    def go_ahead(self, approval: Confirmation, by: Actor, now: datetime) -> None:
        lifecycle.move(
            funding=approval.funding,
            target=FundingStatus.RESERVED,
            actor=by,
            now=now,
            reason="approved",
            next_attempt_at=now,
            expected_availability_date=lifecycle.expected_on(approval.funding, now),
        )
        enqueue_on_commit("funding.submit_due")

    def stop(
        self, approval: Confirmation, *, code: str, message: str, actor: Actor, now: datetime
    ) -> None:
        """Fail the funding. Auto-funding then waits as after any other failure, unless only its
        settings changed."""
        lifecycle.move(
            funding=approval.funding,
            target=FundingStatus.FAILED,
            actor=actor,
            now=now,
            reason=message,
            failure_code=code,
            failure_message=message[:300],
        )
        if approval.decision != ApprovalStatus.SUPERSEDED:
            pauses.note_failure(funding=approval.funding, now=now)
        enqueue_on_commit("funding.evaluate_auto_funding", tenant_id=approval.tenant_id)

    def withdraw_if_stale(self, approval: Confirmation, now: datetime) -> bool:
        if is_current(approval):
            return False
        withdraw(approval, by=SYSTEM, now=now)
        return True


POLICY = FundingApprovalPolicy()


def approvers(*, tenant_id: str) -> list[str]:
    """The addresses that are asked now: those in the settings, else those of owners and
    approvers."""
    return _approvers_of({tenant_id})[tenant_id]


def _approvers_of(tenant_ids: Collection[str]) -> dict[str, list[str]]:
    """Those of each tenant, in at most two queries."""
    configs = AutoFundingConfig.objects.filter(tenant_id__in=tenant_ids)
    named = dict(configs.values_list("tenant_id", "confirmation_emails"))
    unnamed = [tenant_id for tenant_id in tenant_ids if not named.get(tenant_id)]
    people = tenants.people_in(tenant_ids=unnamed, roles=(Role.OWNER, Role.APPROVER))
    members = {
        tenant_id: [email for _, email in people.get(tenant_id, ())] for tenant_id in unnamed
    }
    return {**named, **members}


def withdraw(approval: Confirmation, *, by: Actor, now: datetime) -> None:
    """Withdraw a locked approval because its terms have changed, and fail its funding."""
    outcomes.close(POLICY, approval, ApprovalStatus.SUPERSEDED, decided_by=by.id, now=now)
    POLICY.stop(
        approval,
        code=SUPERSEDED,
        message="The auto-funding settings changed before anybody approved.",
        actor=by,
        now=now,
    )


def withdraw_open(*, tenant_id: str, by: Actor, now: datetime) -> None:
    """Withdraw the automatic funding that waits for approval.

    The caller holds the balance row's lock, so this must not wait for other rows. It skips an
    approval that somebody is answering at this moment: either that answer came first, or
    `is_current` refuses it.
    """
    waiting = FundingTransaction.objects.filter(
        tenant_id=tenant_id,
        trigger=Trigger.AUTO_FUNDING,
        status=FundingStatus.AWAITING_CONFIRMATION,
    )
    for funding in waiting.select_for_update(skip_locked=True, no_key=True):
        withdraw(POLICY.approvals().get(funding=funding), by=by, now=now)


def stale() -> QuerySet[Confirmation]:
    """Open approvals of automatic funding that today's settings would no longer start."""
    default_source = FundingSource.objects.filter(
        tenant_id=OuterRef("tenant_id"), is_default=True
    ).values("pk")
    settings = "tenant__autofundingconfig__"
    open_ones = Confirmation.objects.filter(
        decision=ApprovalStatus.OPEN, funding__trigger=Trigger.AUTO_FUNDING
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


def is_current(approval: Confirmation) -> bool:
    """Whether the approval has the terms of today's settings. The approval of a top-up
    always has."""
    return not stale().filter(pk=approval.pk).exists()


def _check_limits(funding: FundingTransaction, now: datetime) -> None:
    """Check the limits under the balance row's lock, without counting the funding itself twice.

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
    """Check the monthly limit of the auto-funding settings. Raises MonthlyLimitExceeded."""
    configs = AutoFundingConfig.objects.filter(tenant_id=funding.tenant_id)
    auto_funding_month.check(
        configs.values_list("monthly_limit", flat=True).first(),
        tenant_id=funding.tenant_id,
        amount=funding.amount,
        now=now,
        apart_from=funding.pk,
    )
