"""The question put to the approvers of a funding, and the links that answer it."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField
from funding.models.sources import FundingSource
from funding.models.transactions import FundingTransaction


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
