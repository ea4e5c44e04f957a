"""The attempts to bring money in, and their history."""

from __future__ import annotations

from datetime import date

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX, CURRENCY, format_cents
from funding.models.sources import FundingMethod, FundingSource
from funding.states import FUNDING_STATES, IN_FLIGHT, FundingStatus
from tenants.models import ActorType
from transfers.rows import TransferRow, has_a_reason, held_first, known_speed, speed_field, to_send

# The ledger's name for a funding transaction as the source of a posting.
SOURCE_TYPE = "funding_transaction"
DESCRIPTION_LENGTH_MAX = 140


class Trigger(models.TextChoices):
    TOPUP = "topup", "Top-up"
    AUTO_FUNDING = "auto_funding", "Auto-funding"
    STAFF = "staff"


def _dated(status: FundingStatus, column: str) -> models.CheckConstraint:
    """A constraint: a row in `status` has a time in `column`, which says when it got there."""
    return models.CheckConstraint(
        condition=~Q(status=status) | Q(**{f"{column}__isnull": False}),
        name=f"funding_{status}_is_dated",
    )


@pgtrigger.register(NEVER_TRUNCATED)
class FundingTransaction(TransferRow):
    """One attempt to bring money into the balance. Amounts are cents.

    A held row (`held_at`) keeps its status until staff release it.
    """

    id = PrefixedIdField("ftx")
    # The database refers to both at once (`funding_draws_from_own_source`): the account is of this
    # tenant.
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, db_index=False, db_constraint=False
    )
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT, db_constraint=False)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, default=CURRENCY)
    status = models.CharField(max_length=21, choices=FundingStatus)
    method = models.CharField(max_length=9, choices=FundingMethod)
    speed = speed_field()
    trigger = models.CharField(max_length=12, choices=Trigger)
    created_by_type = models.CharField(max_length=8, choices=ActorType)
    created_by_id = models.CharField(max_length=254, blank=True)
    description = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, blank=True)
    metadata = models.JSONField(default=dict)
    requires_confirmation = models.BooleanField(default=False)
    confirmation_expires_at = models.DateTimeField(null=True, blank=True)
    request_expires_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when a request for payment lapses; set when it is sent for the first time",
    )
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
    retry_of = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        db_index=False,
        db_constraint=False,  # `funding_retries_a_funding`, which was added while rows were written
        related_name="retries",
        help_text="the returned funding that this one tries once more",
    )
    history_length = models.PositiveIntegerField(default=0)
    event_sequence = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    # What `authorization_checks.look_again` found right before it is sent; not stored here.
    authorized_as = ""
    lacks_authorization = False

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
            has_a_reason("funding_hold_has_a_reason"),
            known_speed("funding_speed_known"),
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
            models.UniqueConstraint(
                fields=("retry_of",),
                condition=Q(
                    retry_of__isnull=False, status__in=(*IN_FLIGHT, FundingStatus.COMPLETED)
                ),
                name="one_retry_at_a_time",
            ),
        )
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="funding_by_tenant"),
            models.Index(
                fields=("tenant", "status", "-created_at", "-id"), name="funding_by_status"
            ),
            # What people search for. Ids sort by time; staff ask without a tenant.
            models.Index(fields=("amount", "tenant", "id"), name="funding_by_amount"),
            to_send("funding_to_send"),
            models.Index(
                fields=("source",), name="funding_of_source", condition=Q(status__in=IN_FLIGHT)
            ),
            held_first("funding_held"),
            models.Index(
                fields=("tenant",),
                include=("amount",),
                name="funding_in_flight",
                condition=Q(status__in=IN_FLIGHT),
            ),
            models.Index(
                fields=("tenant", "reserved_at"),
                include=("amount", "status", "trigger"),
                name="funding_approved",
                condition=Q(requires_confirmation=True, reserved_at__isnull=False),
            ),
            BrinIndex(fields=("pending_at",), name="funding_sent"),
            models.Index(
                fields=("trace_number",), name="funding_trace", condition=~Q(trace_number="")
            ),
            models.Index(
                fields=("failed_at",), name="funding_failures", condition=Q(status="failed")
            ),
            models.Index(
                fields=("retry_of",),
                name="funding_retries",
                condition=Q(retry_of__isnull=False),
            ),
            models.Index(
                fields=("tenant", "failed_at"),
                name="funding_short_of_funds",
                condition=Q(return_code__in=("R01", "R09"), retry_of=None),
            ),
        )
        triggers = (
            FUNDING_STATES.trigger("funding_moves"),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="terms_never_change",
                fields=(
                    "tenant",
                    "source",
                    "amount",
                    "currency",
                    "method",
                    "trigger",
                    "retry_of",
                    "speed",
                ),
            ),
        )

    def __str__(self) -> str:
        method, when = FundingMethod(self.method).label, days.when(self.created_at)
        return f"{format_cents(self.amount)} by {method}, {self.standing}, {when}"

    @property
    def standing(self) -> str:
        """Its status in words, or that somebody holds it."""
        return "on hold" if self.held_at else FundingStatus(self.status).label.lower()

    @property
    def is_unsent(self) -> bool:
        waits = self.status == FundingStatus.AWAITING_CONFIRMATION
        return waits or (self.status == FundingStatus.RESERVED and self.attempts == 0)

    @property
    def is_going(self) -> bool:
        """Whether it only needs time to arrive: it waits for no person."""
        is_next = self.status == FundingStatus.RESERVED and self.held_at is None
        return is_next or self.status in (FundingStatus.PENDING, FundingStatus.IN_TRANSIT)

    @property
    def promised_date(self) -> date | None:
        """When it is expected, or was expected before it arrived; None while or once it is not
        expected."""
        is_promised = self.is_going or self.completed_at is not None
        return self.expected_availability_date if is_promised else None


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class FundingEvent(models.Model):
    """One change of status: who, when, why. Append-only."""

    id = PrefixedIdField("fev")
    funding = models.ForeignKey(
        FundingTransaction, on_delete=models.PROTECT, related_name="history", db_index=False
    )
    sequence = models.PositiveIntegerField()
    from_status = models.CharField(max_length=21, blank=True)
    to_status = models.CharField(max_length=21, choices=FundingStatus)
    actor_type = models.CharField(max_length=8, choices=ActorType)
    actor_id = models.CharField(max_length=254, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    network_reference = models.CharField(max_length=64, blank=True)
    account_id = models.CharField(
        max_length=32, blank=True, db_default="", help_text="the bank account it draws from"
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("funding", "sequence"), name="one_history_row_a_step"),
        )
        indexes = (BrinIndex(fields=("created_at",), name="funding_history_age"),)

    def __str__(self) -> str:
        return f"{FundingStatus(self.to_status).label}, {days.when(self.created_at)}"
