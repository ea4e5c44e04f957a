"""An approval, and the magic links by which approvers answer it.

Both models are abstract: `funding` and `payments` have tables of their own. Those are called
`Confirmation` and `PaymentConfirmation`, the word of the public interface, which their tables,
permissions and admin addresses keep (decision 0137).
"""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField
from common.money import format_cents
from transfers.accounts import StoredAccount


class ApprovalStatus(models.TextChoices):
    OPEN = "open", "Waiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    SUPERSEDED = "superseded", "Withdrawn"


class Approval(models.Model):
    """Whether `amount` cents may move. A trigger lets `decision` change only once."""

    id = PrefixedIdField("cnf")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    amount = models.BigIntegerField()
    reason = models.CharField(max_length=200)
    # Everybody who was asked so far. Whoever approves now decides, asked or not (decision 0185).
    approvers = ArrayField(models.EmailField(), default=list)
    expires_at = models.DateTimeField()
    decision = models.CharField(max_length=10, choices=ApprovalStatus, default=ApprovalStatus.OPEN)
    decided_by = models.CharField(max_length=254, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decline_reason = models.CharField(max_length=200, blank=True)
    reminded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None)
                | (~Q(decision="open") & Q(decided_at__isnull=False)),
                name="%(class)s_decided_iff_dated",
            ),
        )
        indexes: ClassVar[tuple[models.Index, ...]] = (
            models.Index(
                fields=("expires_at",), name="%(class)s_open", condition=Q(decision="open")
            ),
            models.Index(fields=("decided_at",), name="%(class)s_decided"),
        )
        triggers = (
            pgtrigger.Protect(
                name="decided_once",
                operation=pgtrigger.UpdateOf("decision"),
                condition=pgtrigger.Condition("OLD.decision <> 'open'"),
            ),
        )

    def __str__(self) -> str:
        decision = ApprovalStatus(self.decision).label.lower()
        return f"approval of {format_cents(self.amount)}, {decision}"

    # `in` if the money would come in, `out` if it would go out.
    direction: ClassVar[str]

    @property
    def subject_id(self) -> str:
        """The id of the funding transaction or payment that would move."""
        raise NotImplementedError

    @property
    def account(self) -> StoredAccount:
        """The bank account at the other end."""
        raise NotImplementedError


class MagicLink(models.Model):
    """One magic link of one approver. Only the digest of its token is stored."""

    wall_follows_parent: ClassVar = True  # whoever could make one would approve

    confirmation_id: str  # the approval: each table has a foreign key `confirmation`

    id = PrefixedIdField("lnk")
    approver_email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"link of {self.approver_email}"
