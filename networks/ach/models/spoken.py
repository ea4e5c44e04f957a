"""What a bank said of a file by telephone: one person writes it down, another one confirms it."""

from __future__ import annotations

from datetime import datetime

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks import calendar
from networks.ach.models import columns
from networks.ach.models.files import OutFile
from networks.ach.states import SPOKEN_STATES, SpokenStatus

CODE_LENGTH_MAX = 40
SAID_BY_LENGTH_MAX = 100


class SpokenVerdict(models.TextChoices):
    """What the bank did with a file (the values of networks.ach.acknowledgments.Verdict)."""

    ACCEPTED = "accepted", "It took the whole file"
    REJECTED = "rejected", "It took nothing of the file"
    PART_REJECTED = "part_rejected", "It took the file without some batches"


class SpokenAnswer(models.Model):
    """The bank's answer to one file, as `said_by` at the bank gave it.

    `code` is why it refused the file, or `batches` (their numbers in the file). Void: the bank's
    own answer, or its silence for long enough, came before anybody confirmed this one.
    """

    id = PrefixedIdField("spk")
    file = models.ForeignKey(
        OutFile, on_delete=models.PROTECT, related_name="spoken_answers", db_index=False
    )
    verdict = models.CharField(max_length=13, choices=SpokenVerdict)
    code = models.CharField(max_length=CODE_LENGTH_MAX, blank=True)
    batches = models.JSONField(default=list, blank=True)
    said_by = models.CharField(max_length=SAID_BY_LENGTH_MAX)
    reason = columns.reason()
    status = models.CharField(max_length=9, choices=SpokenStatus, default=SpokenStatus.PROPOSED)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()

    class Meta:
        verbose_name = "answer by telephone"
        verbose_name_plural = "answers by telephone"
        constraints = (
            columns.one_of("status", SpokenStatus, "spoken_answer_status_known"),
            columns.one_of("verdict", SpokenVerdict, "spoken_answer_verdict_known"),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(said_by="") & ~Q(reason=""),
                name="spoken_answer_says_who_and_why",
            ),
            models.CheckConstraint(
                condition=Q(verdict="accepted", code="", batches=[])
                | (Q(verdict="rejected", batches=[]) & ~Q(code=""))
                | (Q(verdict="part_rejected") & ~Q(code="") & ~Q(batches=[])),
                name="spoken_answer_says_what_was_refused",
            ),
            models.CheckConstraint(
                condition=~Q(decided_by=F("proposed_by")), name="spoken_answer_decided_by_another"
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | Q(status="void", decided_at__isnull=False, decided_by="")
                | (
                    Q(status__in=("confirmed", "rejected"), decided_at__isnull=False)
                    & ~Q(decided_by="")
                ),
                name="spoken_answer_decided_iff_dated",
            ),
            models.UniqueConstraint(
                fields=("file",),
                condition=Q(status__in=("proposed", "confirmed")),
                name="one_live_spoken_answer",
            ),
        )
        indexes = (
            models.Index(
                fields=("proposed_at",),
                name="spoken_answer_open",
                condition=Q(status="proposed"),
            ),
            models.Index(fields=("file", "proposed_at"), name="spoken_answer_by_file"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            SPOKEN_STATES.trigger("spoken_answer_moves"),
            pgtrigger.ReadOnly(
                name="spoken_answer_never_changes",
                exclude=("status", "decided_by", "decided_at"),
            ),
            pgtrigger.Protect(
                name="spoken_answer_decided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.decided_at IS NOT NULL"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}, {days.when(self.proposed_at)}"

    @property
    def is_open(self) -> bool:
        """Whether another person has to confirm it."""
        return self.status == SpokenStatus.PROPOSED

    @property
    def speaks_until(self) -> datetime:
        """Until when it keeps the bank's silence from counting, though nobody confirmed it."""
        return calendar.banking_day_later(self.proposed_at)
