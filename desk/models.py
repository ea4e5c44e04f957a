"""Notes on what staff work on, and who works on it (decision 0210).

The rows name an item by its kind and id and know no tenant. So the wall has nothing to open to a
tenant: the role of requests has no right on these tables.
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from common.ids import ID_LENGTH_MAX

NOTE_LENGTH_MAX = 2_000


class ItemKind(models.TextChoices):
    """What can be worked on. The names are stored and stand in addresses."""

    RECORD = "record", "record from a bank"
    BANK_FILE = "bank-file", "file from a bank"
    FILE = "file", "file to a bank"
    ANSWER = "answer", "answer by telephone"
    REVERSAL = "reversal", "reversal"
    PROPOSAL = "proposal", "proposal"
    ORIGINATOR = "originator", "originator"
    RAIL = "rail", "rail"
    FUNDING = "funding", "funding"
    PAYMENT = "payment", "payment"
    MESSAGE = "message", "network message"
    SETTLEMENT = "settlement", "settlement by hand"
    CONVERSATION = "conversation", "instant payment"
    INSTANT_MESSAGE = "instant-message", "message of an instant network"
    RETURN_ASK = "return-ask", "request for a return of funds"


class _OfItem(models.Model):
    """A row about one item. It is never changed and never deleted."""

    kind = models.CharField(max_length=20, choices=ItemKind.choices)
    subject_id = models.CharField(max_length=ID_LENGTH_MAX, db_collation="C")  # as ids have it
    created_by = models.ForeignKey(
        "tenants.User", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    created_at = models.DateTimeField()

    class Meta:
        abstract = True


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class ItemNote(_OfItem):
    """What somebody wrote down about an item: plain text."""

    id = PrefixedIdField("nte")
    text = models.CharField(max_length=NOTE_LENGTH_MAX)

    class Meta:
        verbose_name = "note"
        indexes = (
            models.Index(fields=("subject_id", "kind", "created_at", "id"), name="note_of_item"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=ItemKind.values), name="note_kind_is_known"
            ),
            models.CheckConstraint(condition=~Q(text=""), name="note_is_not_empty"),
        )

    def __str__(self) -> str:
        return f"note {self.pk} on {self.kind} {self.subject_id}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class Assignment(_OfItem):
    """Who works on an item from then on; nobody where it was released.

    The assignments of an item are numbered 1, 2, 3 …, and the highest number holds. Of two people
    who take an item at once, both write the same number, and the unique constraint refuses one.
    """

    id = PrefixedIdField("asg")
    number = models.PositiveIntegerField()
    assignee = models.ForeignKey(
        "tenants.User",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
    )

    class Meta:
        verbose_name = "assignment"
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=ItemKind.values), name="assignment_kind_is_known"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="assignment_is_numbered"),
            models.UniqueConstraint(
                fields=("subject_id", "kind", "number"), name="one_assignment_per_number"
            ),
        )

    def __str__(self) -> str:
        return f"assignment {self.number} of {self.kind} {self.subject_id}"
