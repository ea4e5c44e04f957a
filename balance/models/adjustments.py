"""Corrections of a balance by staff, and the proposals that precede them."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from balance.kinds import PostingType
from balance.models.ledger import DESCRIPTION_LENGTH_MAX
from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.money import AMOUNT_MAX, format_cents
from tenants.models import ActorType


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class Adjustment(models.Model):
    """A correction made by staff. It is the source of its balance transaction."""

    id = PrefixedIdField("adj")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    type = models.CharField(
        max_length=6,
        choices=[(kind, kind.label) for kind in (PostingType.CREDIT, PostingType.DEBIT)],
    )
    amount = models.BigIntegerField()
    reason = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, help_text="the tenant sees it")
    actor_type = models.CharField(max_length=8, choices=ActorType)
    actor_id = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "balance_adjustment"
        constraints = (
            models.CheckConstraint(condition=Q(amount__gte=1), name="adjustment_amount_positive"),
            models.CheckConstraint(
                condition=Q(type__in=(PostingType.CREDIT, PostingType.DEBIT)),
                name="adjustment_type_known",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="adjustment_has_a_reason"),
        )

    def __str__(self) -> str:
        return f"{self.type} of {format_cents(self.amount)}, {days.when(self.created_at)}"


class ProposalDecision(models.TextChoices):
    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"


@pgtrigger.register(NEVER_TRUNCATED)
class AdjustmentProposal(models.Model):
    """A correction that one member of staff asks for and another one decides. Amounts are cents."""

    id = PrefixedIdField("adp")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    type = models.CharField(
        max_length=6,
        choices=[(kind, kind.label) for kind in (PostingType.CREDIT, PostingType.DEBIT)],
    )
    amount = models.BigIntegerField()
    reason = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, help_text="the tenant sees it")
    proposed_by = models.ForeignKey("tenants.User", on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField()
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="after this nobody can approve it; empty: never"
    )
    decision = models.CharField(
        max_length=8, choices=ProposalDecision, default=ProposalDecision.OPEN
    )
    decided_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_note = models.CharField(max_length=DESCRIPTION_LENGTH_MAX, blank=True)
    adjustment = models.OneToOneField(
        Adjustment, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        db_table = "balance_adjustment_proposal"
        permissions = (
            ("propose_adjustment", "Can propose adjustments"),
            ("approve_adjustment", "Can approve or reject adjustments that others propose"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(amount__gte=1, amount__lte=AMOUNT_MAX),
                name="proposal_amount_in_range",
            ),
            models.CheckConstraint(
                condition=Q(type__in=(PostingType.CREDIT, PostingType.DEBIT)),
                name="proposal_type_known",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="proposal_has_a_reason"),
            models.CheckConstraint(
                condition=Q(decision="open", decided_at=None, decided_by=None)
                | (
                    Q(decision__in=("approved", "rejected"))
                    & Q(decided_at__isnull=False, decided_by__isnull=False)
                ),
                name="proposal_decided_iff_dated",
            ),
            models.CheckConstraint(
                condition=Q(decision="approved", adjustment__isnull=False)
                | (~Q(decision="approved") & Q(adjustment=None)),
                name="proposal_posted_iff_approved",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")),
                name="proposal_decided_by_another",
            ),
        )
        indexes = (
            models.Index(
                fields=("proposed_at",), name="proposal_open", condition=Q(decision="open")
            ),
        )
        triggers = (
            pgtrigger.Protect(name="proposal_never_deleted", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(
                name="proposal_terms_never_change",
                fields=(
                    "tenant",
                    "type",
                    "amount",
                    "reason",
                    "proposed_by",
                    "proposed_at",
                    "expires_at",
                ),
            ),
            pgtrigger.Protect(
                name="proposal_decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.decision <> 'open'"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.type} of {format_cents(self.amount)} for {self.tenant}"
