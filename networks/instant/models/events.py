"""What the rest of Ballast is told about an instruction over an instant network."""

from __future__ import annotations

from typing import ClassVar

import pgtrigger
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from networks import columns
from networks.instant.models.conversations import Conversation
from networks.instant.models.rails import InstantRail

EVENT_PREFIX = "ine_"


class InstantEventKind(models.TextChoices):
    ACCEPTED = "accepted"
    SETTLED = "settled"
    FINAL = "final"
    REJECTED = "rejected"
    RETURNED = "returned"
    RECEIVED = "received"


class InstantEvent(models.Model):
    """One message of `poll`, told from `due_at` on until it is acknowledged, in the order of
    `due_at` and `id`. Cents. One that is void (`voided_at`) is never told: a payment that was
    refused before it was posted does not become final."""

    # Of a tenant are those of its conversations.
    wall: ClassVar = (
        "EXISTS (SELECT FROM instant_conversation AS conversation"
        " WHERE conversation.id = instant_instantevent.conversation_id)"
    )

    id = models.BigAutoField(primary_key=True)
    rail = models.ForeignKey(
        InstantRail, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="events")
    instruction_id = models.CharField(max_length=columns.INSTRUCTION_LENGTH_MAX, blank=True)
    kind = models.CharField(max_length=8, choices=InstantEventKind)
    code = models.CharField(max_length=16, blank=True)
    reason = columns.reason()
    amount = models.BigIntegerField()
    settlement_date = models.DateField(null=True, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    occurred_at = models.DateTimeField()
    due_at = models.DateTimeField()
    acknowledged = models.BooleanField(default=False)
    voided_at = columns.moment()

    class Meta:
        verbose_name = "event of an instant network"
        verbose_name_plural = "events of instant networks"
        constraints = (
            columns.one_of("kind", InstantEventKind, "instant_event_kind_known"),
            models.CheckConstraint(
                condition=Q(acknowledged=False) | Q(voided_at=None),
                name="instant_event_told_or_void",
            ),
            models.CheckConstraint(
                condition=~Q(kind="settled") | Q(settlement_date__isnull=False),
                name="instant_event_of_a_day_is_dated",
            ),
            models.UniqueConstraint(
                fields=("conversation", "kind"),
                condition=Q(voided_at=None),
                name="one_instant_event_of_a_kind",
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at", "id"),
                name="instant_event_to_tell",
                condition=Q(acknowledged=False, voided_at=None),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="instant_event_never_changes", exclude=("acknowledged", "voided_at")
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.code}".strip() + f", due {days.when(self.due_at)}"

    @property
    def event_id(self) -> str:
        """The id that `poll` and `acknowledge` use."""
        return f"{EVENT_PREFIX}{self.pk}"
