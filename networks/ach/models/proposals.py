"""What one person alone may not do at a rail, because money could move twice or beyond a limit: one
proposes it, another one approves it."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from networks.ach.models.rails import AchRail
from networks.ach.states import PROPOSAL_STATES, ProposalStatus


class ProposalKind(models.TextChoices):
    AT_BANK = "at_bank", "The bank has the file"
    NOT_AT_BANK = "not_at_bank", "The bank does not have the file"
    ORIGINATOR = "originator", "Another name, or higher limits"
    END_ORIGINATOR = "end_originator", "A company of a tenant ends"
    RELEASE_DEBITS = "release_debits", "Stopped debits go on"
    DISMISS_STATEMENT = "dismiss", "A bank statement is never taken"
    TAKE_STATEMENT = "take", "An uploaded bank statement is taken"


class AchProposal(models.Model):
    """`subject` is a file of ours or of the bank, or the originator; empty for one that is new.

    `before` is how the subject was when it was proposed: what is different by then is not approved.
    `after` is the company of an originator as it is to be (networks.ach.originating.Company).
    """

    id = PrefixedIdField("apr")
    rail = models.ForeignKey(
        AchRail, on_delete=models.PROTECT, related_name="proposals", db_index=False
    )
    kind = models.CharField(max_length=14, choices=ProposalKind)
    subject = models.CharField(max_length=64, blank=True)
    tenant_id = models.CharField(max_length=columns.TENANT_LENGTH_MAX, blank=True)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    reason = columns.reason()
    status = models.CharField(max_length=8, choices=ProposalStatus, default=ProposalStatus.PROPOSED)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()

    class Meta:
        verbose_name = "proposal about a rail"
        verbose_name_plural = "proposals about rails"
        constraints = (
            columns.one_of("status", ProposalStatus, "ach_proposal_status_known"),
            columns.one_of("kind", ProposalKind, "ach_proposal_kind_known"),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="ach_proposal_says_who_and_why"
            ),
            models.CheckConstraint(
                condition=~Q(subject="") | Q(kind="originator"), name="ach_proposal_has_a_subject"
            ),
            models.CheckConstraint(
                condition=~Q(decided_by=F("proposed_by")), name="ach_proposal_decided_by_another"
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (
                    Q(status__in=("approved", "rejected"), decided_at__isnull=False)
                    & ~Q(decided_by="")
                ),
                name="ach_proposal_decided_iff_dated",
            ),
            models.UniqueConstraint(
                fields=("rail", "subject", "tenant_id"),
                condition=Q(status="proposed"),
                name="one_open_ach_proposal",
            ),
        )
        indexes = (
            models.Index(
                fields=("proposed_at",), name="ach_proposal_open", condition=Q(status="proposed")
            ),
            models.Index(fields=("subject", "proposed_at"), name="ach_proposal_by_subject"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            PROPOSAL_STATES.trigger("ach_proposal_moves"),
            pgtrigger.ReadOnly(
                name="ach_proposal_never_changes",
                exclude=("status", "decided_by", "decided_at"),
            ),
            pgtrigger.Protect(
                name="ach_proposal_decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.decided_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.subject or self.rail_id}"

    @property
    def is_open(self) -> bool:
        """Whether another person has to decide."""
        return self.status == ProposalStatus.PROPOSED
