"""Every message of a payment network, whoever it is for."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

NOTE_LENGTH_MAX = 300


class InboundOutcome(models.TextChoices):
    """What became of a message: `new` waits, `review` needs a person, who made it `resolved`."""

    NEW = "new"
    APPLIED = "applied"
    REVIEW = "review", "To settle"
    RESOLVED = "resolved"


class InboundEvent(models.Model):
    """A message of a payment network, stored before it is applied. Unique per network and id.

    The numeric key is the order of arrival, in which the messages of one instruction are applied.
    `next_attempt_at` is set while it is `new`; `attempts` counts how often it was not digested.
    `original` is what came, where it did not fit the columns.
    """

    id = models.BigAutoField(primary_key=True)
    network = models.CharField(max_length=16)
    event_id = models.CharField(max_length=64)
    instruction_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=16)
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    code = models.CharField(max_length=8, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    occurred_at = models.DateTimeField()
    received_at = models.DateTimeField()
    outcome = models.CharField(max_length=8, choices=InboundOutcome, default=InboundOutcome.NEW)
    note = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    original = models.TextField(blank=True)
    resolution = models.CharField(max_length=NOTE_LENGTH_MAX, blank=True)
    resolved_by = models.CharField(max_length=254, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    QUEUED = Q(next_attempt_at__isnull=False)

    class Meta:
        verbose_name = "network message"
        constraints = (
            models.UniqueConstraint(fields=("network", "event_id"), name="one_row_per_message"),
            models.CheckConstraint(
                condition=Q(outcome="new", next_attempt_at__isnull=False)
                | (~Q(outcome="new") & Q(next_attempt_at=None)),
                name="new_messages_are_due",
            ),
            models.CheckConstraint(
                condition=~Q(outcome="resolved")
                | (Q(resolved_at__isnull=False) & ~Q(resolution="")),
                name="resolved_messages_say_why",
            ),
        )
        indexes = (
            models.Index(
                fields=("next_attempt_at", "id"),
                name="inbound_new",
                condition=Q(next_attempt_at__isnull=False),
            ),
            models.Index(fields=("-id",), name="inbound_review", condition=Q(outcome="review")),
            models.Index(fields=("instruction_id", "id"), name="inbound_by_instruction"),
        )

    def __str__(self) -> str:
        return f"{self.network} {self.kind} for {self.instruction_id}"
