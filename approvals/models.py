"""The question put to approvers, and the links that answer it. Each app has tables of its own."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField
from transfers.accounts import StoredAccount


class Decision(models.TextChoices):
    OPEN = "open", "Waiting"
    APPROVED = "approved"
    DECLINED = "declined"
    EXPIRED = "expired"
    SUPERSEDED = "superseded", "Withdrawn"


class Question(models.Model):
    """Whether `amount` cents may move. The first decision wins, by constraint."""

    id = PrefixedIdField("cnf")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    amount = models.BigIntegerField()
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
        abstract = True
        constraints = (
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None)
                | (~Q(decision="open") & Q(decided_at__isnull=False)),
                name="%(class)s_decided_iff_dated",
            ),
        )
        indexes = (
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
        return f"{self.pk} {self.decision}"

    # Where the money would go, in the contract's word: `in` or `out`.
    direction: ClassVar[str]

    @property
    def subject_id(self) -> str:
        """What would move: the id of a funding transaction or a payment."""
        raise NotImplementedError

    @property
    def account(self) -> StoredAccount:
        """The bank account at the other end."""
        raise NotImplementedError


class MagicLink(models.Model):
    """One link of one approver. Only the token's digest is kept."""

    confirmation_id: str  # of the question, to which each table has a foreign key `confirmation`

    id = PrefixedIdField("lnk")
    approver_email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"link of {self.approver_email}"
