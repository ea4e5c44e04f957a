"""Lines of statements that have no counterpart in the books, and what becomes of them.

A fee is booked as one. Anything else is booked to suspense, and stays there until two people say
what it was.
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from reconciliation.models.statements import StatementLine
from reconciliation.states import CLEARING_STATES, ClearingStatus


class BookedAs(models.TextChoices):
    FEE = "fee", "Fee of the bank"
    SUSPENSE = "suspense"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class BookedLine(models.Model):
    """A line of a statement that the books learned of by it. Cents, below zero where money left.

    Its id is the source of the operator's line. `booked_by` is empty where the line's type code
    said what it is, or nothing said it.
    """

    id = PrefixedIdField("bkl")
    line = models.OneToOneField(StatementLine, on_delete=models.PROTECT, related_name="booked")
    booked_as = models.CharField(max_length=8, choices=BookedAs)
    amount = models.BigIntegerField()
    booked_at = models.DateTimeField()
    booked_by = columns.staff()
    reason = columns.reason()

    class Meta:
        verbose_name = "booked line"
        constraints = (
            columns.one_of("booked_as", BookedAs, "booked_line_kind_known"),
            models.CheckConstraint(condition=~Q(amount=0), name="booked_line_moves_money"),
        )
        indexes = (
            models.Index(
                fields=("booked_at",),
                name="booked_line_suspense",
                condition=Q(booked_as="suspense"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_booked_as_display()} of a bank statement"


class ClearingKind(models.TextChoices):
    """What a line in suspense turned out to be."""

    FEE = "fee", "A fee of the bank"
    INCOME = "income", "Income of ours"
    OFFSET = "offset", "Undone by another line of the bank"
    ADJUSTMENT = "adjustment", "A tenant's, who got or paid it by an adjustment"
    LEDGER = "ledger", "A transfer that the books learned of later"


class Clearing(models.Model):
    """A proposal to clear a line from suspense. Another person approves or rejects it.

    `other` is the line of the bank that undoes this one, `adjustment_id` the adjustment by which
    the tenant got the money, `expected_line` the line of the books that the bank's line was. Each
    clears one line only.
    """

    id = PrefixedIdField("clr")
    booked = models.ForeignKey(
        BookedLine, on_delete=models.PROTECT, related_name="clearings", db_index=False
    )
    kind = models.CharField(max_length=10, choices=ClearingKind)
    other = models.ForeignKey(
        BookedLine,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="undoes",
        db_index=False,
    )
    adjustment_id = models.CharField(max_length=32, blank=True)
    expected_line = models.BigIntegerField(null=True, blank=True)
    reason = columns.reason()
    status = models.CharField(max_length=8, choices=ClearingStatus, default=ClearingStatus.PROPOSED)
    proposed_by = columns.staff()
    proposed_at = models.DateTimeField()
    decided_by = columns.staff()
    decided_at = columns.moment()
    refusal = columns.reason()

    class Meta:
        permissions = (
            ("propose_clearing", "Can propose what a line in suspense was"),
            ("approve_clearing", "Can approve what others propose of a line in suspense"),
        )
        constraints = (
            columns.one_of("kind", ClearingKind, "clearing_kind_known"),
            columns.one_of("status", ClearingStatus, "clearing_status_known"),
            *(
                models.UniqueConstraint(
                    fields=(column,),
                    condition=~Q(status="rejected") & filled,
                    name=f"one_clearing_per_{name}",
                )
                for column, filled, name in (
                    ("booked", Q(booked__isnull=False), "line"),
                    ("other", Q(other__isnull=False), "other_line"),
                    ("adjustment_id", ~Q(adjustment_id=""), "adjustment"),
                    ("expected_line", Q(expected_line__isnull=False), "expected_line"),
                )
            ),
            models.CheckConstraint(
                condition=Q(kind="offset", other__isnull=False)
                | (~Q(kind="offset") & Q(other=None)),
                name="clearing_names_the_other_line",
            ),
            models.CheckConstraint(
                condition=(Q(kind="adjustment") & ~Q(adjustment_id=""))
                | (~Q(kind="adjustment") & Q(adjustment_id="")),
                name="clearing_names_the_adjustment",
            ),
            models.CheckConstraint(
                condition=Q(kind="ledger", expected_line__isnull=False)
                | (~Q(kind="ledger") & Q(expected_line=None)),
                name="clearing_names_the_expected_line",
            ),
            models.CheckConstraint(
                condition=~Q(proposed_by="") & ~Q(reason=""), name="clearing_says_why"
            ),
            models.CheckConstraint(
                condition=~Q(decided_by=F("proposed_by")), name="clearing_decided_by_another"
            ),
            models.CheckConstraint(
                condition=Q(status="proposed", decided_at=None, decided_by="")
                | (~Q(status="proposed") & Q(decided_at__isnull=False) & ~Q(decided_by="")),
                name="clearing_decided_iff_dated",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            CLEARING_STATES.trigger("clearing_moves"),
            pgtrigger.ReadOnly(
                name="clearing_never_changes",
                exclude=("status", "decided_by", "decided_at", "refusal"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.get_status_display().lower()}"

    @property
    def is_open(self) -> bool:
        """Whether another person has to decide."""
        return self.status == ClearingStatus.PROPOSED
