"""A tenant's limit above which payments need approval, the approvals, and their magic links."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Q

from approvals.models import Approval, MagicLink
from common.fields import PrefixedIdField
from payments.models.payments import Payment
from payments.models.recipients import Recipient


class PaymentSettings(models.Model):
    """One tenant's own rule. `approval_threshold` is cents; without one, no payment needs approval.

    A change that protects less is stored as `next_threshold` and applies from `next_at` (UTC) on,
    unless somebody agrees or refuses before; `next_by` is the id of the person who asked for it.
    `next_limits` and `next_cool_down_hours` likewise.
    """

    id = PrefixedIdField("pst")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    approval_threshold = models.BigIntegerField(
        null=True, blank=True, help_text="cents; payments above it need a second person"
    )
    next_threshold = models.BigIntegerField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)
    next_by = models.CharField(max_length=254, blank=True, db_default="")
    limits = models.JSONField(
        null=True, blank=True, help_text="the tenant's own limits on money out (payments/caps.py)"
    )
    next_limits = models.JSONField(null=True, blank=True)
    next_limits_at = models.DateTimeField(null=True, blank=True)
    next_limits_by = models.CharField(max_length=254, blank=True, db_default="")
    approval_is_default = models.BooleanField(
        default=False,
        db_default=False,
        help_text="nobody set `approval_threshold` yet: the deployment's applies",
    )
    cool_down_hours = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="how long a recipient is new; empty: as the deployment says for this mode",
    )
    next_cool_down_hours = models.PositiveSmallIntegerField(null=True, blank=True)
    next_cool_down_at = models.DateTimeField(null=True, blank=True)
    next_cool_down_by = models.CharField(max_length=254, blank=True, db_default="")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "payment settings"
        constraints = (
            models.CheckConstraint(
                condition=Q(approval_threshold=None) | Q(approval_threshold__gte=0),
                name="approval_threshold_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(next_threshold=None) | Q(next_at__isnull=False, next_threshold__gte=0),
                name="next_approval_threshold_dated",
            ),
            models.CheckConstraint(
                condition=Q(next_limits=None) | Q(next_limits_at__isnull=False),
                name="next_payment_limits_dated",
            ),
            models.CheckConstraint(
                condition=Q(next_cool_down_hours=None) | Q(next_cool_down_at__isnull=False),
                name="next_cool_down_dated",
            ),
        )

    def __str__(self) -> str:
        return f"payment settings of {self.tenant}"

    def threshold_at(self, now: datetime) -> int | None:
        """The limit that applies at `now`, cents."""
        is_due = self.next_at is not None and self.next_at <= now
        return self.next_threshold if is_due else self.approval_threshold

    def has_default_approval(self, now: datetime) -> bool:
        """Whether the deployment says at `now` above which amount payments need approval."""
        return self.approval_is_default and (self.next_at is None or self.next_at > now)

    def limits_at(self, now: datetime) -> Any:
        """The tenant's own limits at `now`, as they are stored; None: it has none of its own."""
        is_due = self.next_limits_at is not None and self.next_limits_at <= now
        return self.next_limits if is_due else self.limits

    def cool_down_at(self, now: datetime) -> int | None:
        """For how many hours a recipient is new at `now`; None: as the deployment says."""
        is_due = self.next_cool_down_at is not None and self.next_cool_down_at <= now
        return self.next_cool_down_hours if is_due else self.cool_down_hours

    def forget_next_cool_down(self) -> None:
        """Let no change of the cool-down wait. Not saved."""
        self.next_cool_down_hours, self.next_cool_down_at, self.next_cool_down_by = None, None, ""

    def forget_next_limits(self) -> None:
        """Let no change of the limits wait. Not saved."""
        self.next_limits, self.next_limits_at, self.next_limits_by = None, None, ""


class PaymentConfirmation(Approval):
    """Whether one payment may be sent, on terms that never change.

    A payment that only whoever ordered it approved, and who left since, is asked about once more:
    its newest approval counts (decision 0196).
    """

    payment = models.ForeignKey(
        Payment, on_delete=models.PROTECT, related_name="confirmations", db_index=False
    )

    direction = "out"

    class Meta(Approval.Meta):
        verbose_name = "payment approval"
        indexes = (
            *Approval.Meta.indexes,
            models.Index(
                fields=("tenant",), name="payment_declined", condition=Q(decision="declined")
            ),
            models.Index(fields=("payment", "created_at"), name="payment_asked_about"),
        )
        constraints = (
            *Approval.Meta.constraints,
            models.UniqueConstraint(
                fields=("payment",), name="payment_asked_about_once", condition=Q(decision="open")
            ),
        )

    @property
    def subject_id(self) -> str:
        return str(self.payment_id)

    @property
    def account(self) -> Recipient:
        return self.payment.recipient


class PaymentConfirmationLink(MagicLink):
    """One magic link of one approver of a payment."""

    confirmation = models.ForeignKey(
        PaymentConfirmation, on_delete=models.PROTECT, related_name="links"
    )

    class Meta(MagicLink.Meta):
        verbose_name = "payment approval link"
