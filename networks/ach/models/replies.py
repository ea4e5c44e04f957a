"""What we answer to a bank about something that it sent back."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from networks.ach.models.files import AchBatch
from networks.ach.models.inbound import InRecord
from networks.ach.models.rails import AchRail
from networks.ach.states import REPLY_STATES, FileStatus, ReplyStatus

# A file whose bank never had it, or did not take it: its replies go again.
TAKEN_APART = (FileStatus.WITHDRAWN, FileStatus.REJECTED)


class ReplyKind(models.TextChoices):
    DISHONOR = "dishonor", "Dishonored return"
    REFUSAL = "refusal", "Refused change"


class AchReply(models.Model):
    """One answer, which a person decided on; it goes to the bank in the next file of replies.

    `code` is R61 to R70 or C61 to C69, `due_on` the last day on which the bank has to have it.
    `bank_code` is why the bank rejected it.
    """

    id = PrefixedIdField("rpl")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    record = models.ForeignKey(
        InRecord, on_delete=models.PROTECT, related_name="replies", db_index=False
    )
    kind = models.CharField(max_length=8, choices=ReplyKind)
    code = models.CharField(max_length=3)
    information = models.CharField(max_length=21, blank=True)
    due_on = models.DateField()
    status = models.CharField(max_length=9, choices=ReplyStatus, default=ReplyStatus.WAITING)
    batch = models.ForeignKey(
        AchBatch, on_delete=models.PROTECT, null=True, blank=True, related_name="replies"
    )
    trace_number = models.CharField(max_length=15, blank=True)
    bank_code = models.CharField(max_length=40, blank=True)
    decided_by = columns.staff()
    decided_at = models.DateTimeField()
    decided_why = columns.reason()
    ended_at = columns.moment()

    class Meta:
        verbose_name = "reply to a bank"
        verbose_name_plural = "replies to banks"
        constraints = (
            columns.one_of("status", ReplyStatus, "ach_reply_status_known"),
            columns.one_of("kind", ReplyKind, "ach_reply_kind_known"),
            models.CheckConstraint(
                condition=~Q(decided_by="") & ~Q(decided_why=""), name="ach_reply_says_why"
            ),
            models.CheckConstraint(
                condition=Q(status__in=("waiting", "withdrawn"), batch=None, trace_number="")
                | (
                    ~Q(status__in=("waiting", "withdrawn"))
                    & Q(batch__isnull=False)
                    & ~Q(trace_number="")
                ),
                name="ach_reply_in_a_file_iff_frozen",
            ),
            models.UniqueConstraint(
                fields=("record",),
                condition=~Q(status__in=("rejected", "withdrawn")),
                name="one_live_reply",
            ),
        )
        indexes = (
            models.Index(
                fields=("rail", "due_on", "id"),
                name="ach_reply_waiting",
                condition=Q(status="waiting"),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            REPLY_STATES.trigger("ach_reply_moves"),
            pgtrigger.ReadOnly(
                name="ach_reply_never_changes",
                fields=(
                    "rail",
                    "record",
                    "kind",
                    "code",
                    "information",
                    "due_on",
                    "decided_by",
                    "decided_at",
                    "decided_why",
                ),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.code}, {self.get_status_display().lower()}"

    @property
    def is_live(self) -> bool:
        """Whether it keeps another one from being decided."""
        return self.status not in (ReplyStatus.REJECTED, ReplyStatus.WITHDRAWN)

    @property
    def may_be_withdrawn(self) -> bool:
        """Whether no bank has it, and no file that may still leave."""
        if self.status == ReplyStatus.WAITING:
            return True
        if self.status != ReplyStatus.FROZEN or self.batch is None:
            return False
        return FileStatus(self.batch.file.status) in TAKEN_APART
