"""Bank accounts we may draw from, the attempts to bring money in, and the rules that start them."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField
from common.leases import Leased
from common.money import AMOUNT_MAX, CURRENCY
from funding.states import (
    FUNDING_STATES,
    IN_FLIGHT,
    SOURCE_STATES,
    VERIFICATION_TRIES_MAX,
    FundingStatus,
    SourceStatus,
)
from networks.accounts import StoredAccount
from tenants.models import ActorType

APPEND_ONLY = pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)


class FundingMethod(models.TextChoices):
    """How money is asked for. RTP cannot pull: it sends a request the account holder answers."""

    ACH_DEBIT = "ach_debit"
    RTP = "rtp"


class SourceType(models.TextChoices):
    LINKED = "linked"
    MANUAL = "manual"


class VerificationMethod(models.TextChoices):
    BANK_LINK = "bank_link"
    MICRO_DEPOSITS = "micro_deposits"
    SANDBOX = "sandbox"


class FundingSource(StoredAccount):
    """A bank account of the tenant."""

    sealed_as = "funding_source"

    id = PrefixedIdField("fs")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    type = models.CharField(max_length=6, choices=SourceType)
    status = models.CharField(max_length=20, choices=SourceStatus)
    verification_method = models.CharField(max_length=14, choices=VerificationMethod)
    link_account_id = models.CharField(max_length=128, blank=True)
    supported_methods = ArrayField(models.CharField(max_length=9, choices=FundingMethod))
    is_default = models.BooleanField(default=False)
    last_return_code = models.CharField(max_length=8, blank=True)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(status__in=SourceStatus.values), name="funding_source_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="removed", removed_at__isnull=False)
                | (~Q(status="removed") & Q(removed_at=None)),
                name="funding_source_removed_iff_dated",
            ),
            models.CheckConstraint(
                condition=~Q(status="removed", is_default=True),
                name="removed_source_is_not_default",
            ),
            models.UniqueConstraint(
                fields=("tenant", "fingerprint"),
                condition=~Q(status="removed"),
                name="one_source_per_account",
            ),
            models.UniqueConstraint(
                fields=("tenant",), condition=Q(is_default=True), name="one_default_source"
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="source_by_tenant"),
            models.Index(fields=("fingerprint",), name="source_by_account"),
        )
        triggers = (
            SOURCE_STATES.trigger("source_moves"),
            pgtrigger.Protect(name="source_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="account_never_changes",
                fields=("tenant", "type", "routing_number", "last4", "fingerprint"),
            ),
        )


class SourceVerification(Leased):
    """Two small credits whose amounts prove that the tenant can see the account.

    Due work until the network has taken the deposits over. `amounts` (cents) are written down
    before they are sent and are never shown to anybody.
    """

    id = PrefixedIdField("ver")
    source = models.OneToOneField(
        FundingSource, on_delete=models.PROTECT, related_name="verification"
    )
    amounts = ArrayField(
        models.PositiveSmallIntegerField(),
        default=list,
        editable=False,
        help_text="empty until a network has chosen them",
    )
    network = models.CharField(max_length=16, blank=True)
    tries_used = models.PositiveSmallIntegerField(default=0)
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="runs from the moment the network took the deposits"
    )
    created_at = models.DateTimeField()
    verified_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(tries_used__lte=VERIFICATION_TRIES_MAX),
                name="verification_tries_are_limited",
            ),
            models.CheckConstraint(
                condition=Q(amounts=[]) | Q(amounts__len=2), name="verification_has_two_amounts"
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="verification_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        )

    # What messages of a network are compared with and judged by.
    currency = CURRENCY

    def __str__(self) -> str:
        return f"verification of {self.source_id}"

    @property
    def amount(self) -> int:
        return sum(self.amounts)

    @property
    def status(self) -> str:
        return self.source.status


class Trigger(models.TextChoices):
    TOPUP = "topup"
    AUTO_FUNDING = "auto_funding"
    STAFF = "staff"


def _dated(status: FundingStatus, column: str) -> models.CheckConstraint:
    """A row in `status` carries the moment it got there."""
    return models.CheckConstraint(
        condition=~Q(status=status) | Q(**{f"{column}__isnull": False}),
        name=f"funding_{status}_is_dated",
    )


class FundingTransaction(Leased):
    """One attempt to bring money into the balance. Amounts are cents."""

    id = PrefixedIdField("ftx")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, default=CURRENCY)
    status = models.CharField(max_length=21, choices=FundingStatus)
    method = models.CharField(max_length=9, choices=FundingMethod)
    trigger = models.CharField(max_length=12, choices=Trigger)
    created_by_type = models.CharField(max_length=8, choices=ActorType)
    created_by_id = models.CharField(max_length=254, blank=True)
    description = models.CharField(max_length=140, blank=True)
    metadata = models.JSONField(default=dict)
    requires_confirmation = models.BooleanField(default=False)
    confirmation_expires_at = models.DateTimeField(null=True, blank=True)
    expected_availability_date = models.DateField()
    reserved_at = models.DateTimeField(null=True, blank=True)
    awaiting_confirmation_at = models.DateTimeField(null=True, blank=True)
    pending_at = models.DateTimeField(null=True, blank=True)
    in_transit_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    failure_code = models.CharField(max_length=40, blank=True)
    failure_message = models.CharField(max_length=300, blank=True)
    returned = models.BooleanField(default=False)
    return_code = models.CharField(max_length=8, blank=True)
    return_reason = models.CharField(max_length=300, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    network = models.CharField(max_length=16)
    network_reference = models.CharField(max_length=64, blank=True)
    trace_number = models.CharField(max_length=64, blank=True)
    history_length = models.PositiveIntegerField(default=0)
    event_sequence = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX), name="funding_amount_in_range"
            ),
            models.CheckConstraint(
                condition=Q(status__in=FundingStatus.values), name="funding_status_known"
            ),
            models.CheckConstraint(
                condition=Q(returned=False) | Q(status="failed", returned_at__isnull=False),
                name="returned_funding_failed",
            ),
            _dated(FundingStatus.RESERVED, "reserved_at"),
            _dated(FundingStatus.AWAITING_CONFIRMATION, "awaiting_confirmation_at"),
            _dated(FundingStatus.PENDING, "pending_at"),
            _dated(FundingStatus.IN_TRANSIT, "in_transit_at"),
            _dated(FundingStatus.COMPLETED, "completed_at"),
            _dated(FundingStatus.FAILED, "failed_at"),
            models.UniqueConstraint(
                fields=("tenant",),
                condition=Q(trigger="auto_funding", status__in=IN_FLIGHT),
                name="one_auto_funding_in_flight",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="funding_by_tenant"),
            models.Index(
                fields=("tenant", "status", "-created_at", "-id"), name="funding_by_status"
            ),
            models.Index(
                fields=("next_attempt_at",),
                name="funding_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(
                fields=("source",), name="funding_of_source", condition=Q(status__in=IN_FLIGHT)
            ),
        )
        triggers = (
            FUNDING_STATES.trigger("funding_moves"),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="terms_never_change",
                fields=("tenant", "source", "amount", "currency", "method", "trigger"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.pk} {self.status}"


@pgtrigger.register(APPEND_ONLY)
class FundingEvent(models.Model):
    """One change of status: who, when, why. Append-only."""

    id = PrefixedIdField("fev")
    funding = models.ForeignKey(
        FundingTransaction, on_delete=models.PROTECT, related_name="history"
    )
    sequence = models.PositiveIntegerField()
    from_status = models.CharField(max_length=21, blank=True)
    to_status = models.CharField(max_length=21, choices=FundingStatus)
    actor_type = models.CharField(max_length=8, choices=ActorType)
    actor_id = models.CharField(max_length=254, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    network_reference = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("funding", "sequence"), name="one_history_row_a_step"),
        )
        indexes = (BrinIndex(fields=("created_at",), name="funding_history_age"),)

    def __str__(self) -> str:
        return f"{self.funding_id}: {self.from_status or 'new'} → {self.to_status}"


class AutoFundingConfig(models.Model):
    """One tenant's rule: below the threshold, add this much. Amounts are cents."""

    id = PrefixedIdField("afc")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    enabled = models.BooleanField(default=False)
    low_balance_threshold = models.BigIntegerField(null=True, blank=True)
    funding_amount = models.BigIntegerField(null=True, blank=True)
    funding_method = models.CharField(max_length=9, choices=FundingMethod, blank=True)
    confirmation_threshold = models.BigIntegerField(null=True, blank=True)
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT, null=True, blank=True)
    monthly_limit = models.BigIntegerField(null=True, blank=True)
    confirmation_emails = ArrayField(models.EmailField(), default=list, blank=True)
    confirm_topups = models.BooleanField(default=False)
    paused_reason = models.CharField(max_length=40, blank=True)
    paused_until = models.DateTimeField(
        null=True, blank=True, help_text="empty while paused: until a person acts"
    )
    failures_in_a_row = models.PositiveSmallIntegerField(default=0)
    last_decline_reason = models.CharField(max_length=40, blank=True)
    low_since = models.DateTimeField(
        null=True, blank=True, help_text="when the balance was first seen below the threshold"
    )
    last_triggered_at = models.DateTimeField(null=True, blank=True)
    resumed_at = models.DateTimeField(
        null=True, blank=True, help_text="when a person last ended a pause"
    )
    updated_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(enabled=False)
                | (
                    Q(low_balance_threshold__gte=0, funding_amount__gte=1)
                    & Q(low_balance_threshold__isnull=False, funding_amount__isnull=False)
                    & ~Q(funding_method="")
                ),
                name="enabled_auto_funding_is_complete",
            ),
            models.CheckConstraint(
                condition=~Q(paused_reason="") | Q(paused_until=None),
                name="auto_funding_pause_has_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"auto-funding of {self.tenant_id}"


class DecisionOutcome(models.TextChoices):
    FIRED = "fired"
    DECLINED = "declined"


@pgtrigger.register(APPEND_ONLY)
class AutoFundingDecision(models.Model):
    """Why auto-funding did, or did not, add money. One row per firing or new reason not to."""

    id = PrefixedIdField("afd")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    outcome = models.CharField(max_length=8, choices=DecisionOutcome)
    reason = models.CharField(max_length=40)
    available = models.BigIntegerField()
    in_flight = models.BigIntegerField()
    threshold = models.BigIntegerField()
    amount = models.BigIntegerField()
    funding = models.ForeignKey(FundingTransaction, on_delete=models.PROTECT, null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="decision_by_tenant"),
        )

    def __str__(self) -> str:
        return f"{self.outcome}: {self.reason}"


class Decision(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


class Confirmation(models.Model):
    """The question put to the approvers of one funding. The first decision wins, by constraint."""

    id = PrefixedIdField("cnf")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    funding = models.OneToOneField(
        FundingTransaction, on_delete=models.PROTECT, related_name="confirmation"
    )
    amount = models.BigIntegerField()
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT)
    reason = models.CharField(max_length=200)
    # Fixed when asked: whoever changes the settings later does not change who decides this.
    approvers = ArrayField(models.EmailField(), default=list)
    expires_at = models.DateTimeField()
    decision = models.CharField(max_length=10, choices=Decision, default=Decision.OPEN)
    decided_by = models.CharField(max_length=254, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decline_reason = models.CharField(max_length=200, blank=True)
    reminded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None)
                | (~Q(decision="open") & Q(decided_at__isnull=False)),
                name="confirmation_decided_iff_dated",
            ),
        )
        indexes = (
            models.Index(
                fields=("expires_at",), name="confirmation_open", condition=Q(decision="open")
            ),
        )
        triggers = (
            pgtrigger.Protect(
                name="decided_once",
                operation=pgtrigger.UpdateOf("decision"),
                condition=pgtrigger.Condition("OLD.decision <> 'open'"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.pk} {self.decision}"


class ConfirmationLink(models.Model):
    """One magic link of one approver. Only the token's digest is kept."""

    id = PrefixedIdField("lnk")
    confirmation = models.ForeignKey(Confirmation, on_delete=models.PROTECT, related_name="links")
    approver_email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"link of {self.approver_email}"


class FundingLimit(models.Model):
    """What staff allow one tenant, in cents. Empty: the deployment's setting applies."""

    id = PrefixedIdField("lim")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    ach_transaction_max = models.BigIntegerField(null=True, blank=True)
    rtp_transaction_max = models.BigIntegerField(null=True, blank=True)
    daily_max = models.BigIntegerField(null=True, blank=True)
    monthly_max = models.BigIntegerField(null=True, blank=True)

    def __str__(self) -> str:
        return f"limits of {self.tenant_id}"
