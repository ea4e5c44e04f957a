"""What the rest of Ballast is told about an instruction."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

import pgtrigger
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from networks.ach.models import columns
from networks.ach.models.corrections import Correction
from networks.ach.models.entries import AchEntry
from networks.ach.models.inbound import InRecord
from networks.ach.models.rails import AchRail

EVENT_PREFIX = "ace_"


class AchEventKind(models.TextChoices):
    ACCEPTED = "accepted"
    RESCHEDULED = "rescheduled"
    SETTLED = "settled"
    FINAL = "final"
    REJECTED = "rejected"
    RETURNED = "returned"
    CORRECTED = "corrected"
    RETURN_DISHONORED = "return_dishonored", "Return dishonored"
    RETURN_CONTESTED = "return_contested", "Return contested"
    RECEIVED = "received"


class AchEvent(models.Model):
    """One message, told by `poll` from `due_at` on until it is acknowledged, in the order of
    `due_at` and `id`. Cents. One that is void (`voided_at`) is never told: an entry that came back
    before it settled does not settle."""

    # Of a tenant are those of its entries.
    wall: ClassVar = (
        "EXISTS (SELECT FROM ach_achentry AS entry WHERE entry.id = ach_achevent.entry_id)"
    )

    id = models.BigAutoField(primary_key=True)
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    entry = models.ForeignKey(
        AchEntry, on_delete=models.PROTECT, null=True, blank=True, related_name="events"
    )
    record = models.ForeignKey(
        InRecord, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    correction = models.ForeignKey(
        Correction,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    instruction_id = models.CharField(max_length=columns.INSTRUCTION_LENGTH_MAX, blank=True)
    kind = models.CharField(max_length=17, choices=AchEventKind)
    code = models.CharField(max_length=40, blank=True)
    reason = columns.reason()
    amount = models.BigIntegerField()
    settlement_date = models.DateField(null=True, blank=True)
    trace_number = models.CharField(max_length=15, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    occurred_at = models.DateTimeField()
    due_at = models.DateTimeField()
    acknowledged = models.BooleanField(default=False)
    voided_at = columns.moment()

    class Meta:
        verbose_name = "event of ACH"
        verbose_name_plural = "events of ACH"
        constraints = (
            columns.one_of("kind", AchEventKind, "ach_event_kind_known"),
            models.CheckConstraint(
                condition=Q(acknowledged=False) | Q(voided_at=None), name="ach_event_told_or_void"
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=("settled", "rescheduled"))
                | Q(settlement_date__isnull=False),
                name="ach_event_of_a_day_is_dated",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at", "id"),
                name="ach_event_to_tell",
                condition=Q(acknowledged=False, voided_at=None),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="ach_event_never_changes", exclude=("acknowledged", "voided_at")
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.code}".strip() + f", due {days.when(self.due_at)}"

    @classmethod
    def about(cls, entry: AchEntry, kind: AchEventKind, *, now: datetime, **said: Any) -> AchEvent:
        """An unsaved event about an entry, to be told from `now` on. `said` are further columns."""
        known = {
            "rail_id": entry.rail_id,
            "instruction_id": entry.instruction_id,
            "amount": entry.amount,
            "trace_number": entry.trace_number,
            "reference": entry.reference,
        }
        return cls(entry=entry, kind=kind, occurred_at=now, due_at=now, **known | said)

    @property
    def event_id(self) -> str:
        """The id that `poll` and `acknowledge` use."""
        return f"{EVENT_PREFIX}{self.pk}"
