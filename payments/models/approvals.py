"""A tenant's limit above which payments need approval, the approvals, and their magic links."""

from __future__ import annotations

from datetime import datetime

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
    """

    id = PrefixedIdField("pst")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    approval_threshold = models.BigIntegerField(
        null=True, blank=True, help_text="cents; payments above it need a second person"
    )
    next_threshold = models.BigIntegerField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True)
    next_by = models.CharField(max_length=254, blank=True, db_default="")
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
        )

    def __str__(self) -> str:
        return f"payment settings of {self.tenant_id}"

    def threshold_at(self, now: datetime) -> int | None:
        """The limit that applies at `now`, cents."""
        is_due = self.next_at is not None and self.next_at <= now
        return self.next_threshold if is_due else self.approval_threshold


class PaymentConfirmation(Approval):
    """Whether one payment may be sent, on terms that never change."""

    payment = models.OneToOneField(Payment, on_delete=models.PROTECT, related_name="confirmation")

    direction = "out"

    class Meta(Approval.Meta):
        verbose_name = "payment approval"

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
