"""What a bank says is wrong with an account that we used (notification of change)."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from networks.ach.models.entries import AchEntry
from networks.ach.models.inbound import InRecord
from networks.ach.states import CORRECTION_STATES, CorrectionStatus
from networks.base import CorrectionOutcome

OUTCOME_NOTE_MAX = 200


class Outcome(models.TextChoices):
    """`networks.base.CorrectionOutcome`, in words."""

    APPLIED = CorrectionOutcome.APPLIED.value, "Account corrected"
    UNCHANGED = CorrectionOutcome.UNCHANGED.value, "Nothing to change"
    REVIEW = CorrectionOutcome.REVIEW.value, "Waits for a person"
    RESOLVED = CorrectionOutcome.RESOLVED.value, "Settled by a person"


class Correction(models.Model):
    """One change, told to whoever keeps the account once its `status` is applied; `outcome` is
    what they say became of it there. The values are encrypted JSON objects by field. `due_on` is
    the banking day by which it has to be applied, or refused with `refusal_code`."""

    id = PrefixedIdField("cor")
    record = models.OneToOneField(InRecord, on_delete=models.PROTECT, related_name="correction")
    entry = models.ForeignKey(AchEntry, on_delete=models.PROTECT, related_name="corrections")
    code = models.CharField(max_length=3)
    old_token = models.TextField(blank=True, editable=False)
    corrected_token = models.TextField(blank=True, editable=False)
    due_on = models.DateField()
    status = models.CharField(
        max_length=13, choices=CorrectionStatus, default=CorrectionStatus.OPEN
    )
    refusal_code = models.CharField(max_length=3, blank=True)
    created_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()
    decided_why = columns.reason()
    outcome = models.CharField(
        max_length=9,
        blank=True,
        db_default="",
        choices=[(each.value, each.label) for each in Outcome],
    )
    outcome_note = models.CharField(max_length=OUTCOME_NOTE_MAX, blank=True, db_default="")
    outcome_at = columns.moment()

    class Meta:
        constraints = (
            columns.one_of("status", CorrectionStatus, "correction_status_known"),
            models.CheckConstraint(
                condition=Q(status="open", decided_at=None)
                | Q(status="informational")
                | Q(status__in=("applied", "refused"), decided_at__isnull=False),
                name="correction_decided_iff_dated",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_on", "id"), name="correction_open", condition=Q(status="open")
            ),
            models.Index(
                fields=("due_on", "id"), name="correction_review", condition=Q(outcome="review")
            ),
            BrinIndex(fields=("created_at",), name="correction_age"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            CORRECTION_STATES.trigger("correction_moves"),
            pgtrigger.ReadOnly(
                name="correction_never_changes",
                fields=("record", "entry", "code", "due_on", "created_at"),
            ),
        )

    def __str__(self) -> str:
        return f"correction {self.code}, {self.get_status_display().lower()}"

    @property
    def outcome_tone(self) -> str:
        """How its badge looks at the desk."""
        return {"review": "warn", "applied": "good"}.get(self.outcome, "neutral")

    @property
    def encryption_context(self) -> str:
        return f"ach.correction:{self.pk}"
