"""Days that are closed: what the books and the bank say of one account differs by nothing but what
is named."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import F, Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import AchRail, columns
from reconciliation.models.statements import BankStatement


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class ClosedDay(models.Model):
    """The end of a day of a statement, in cents. It is never opened again.

    `ledger` is what the books say lies at the bank, `bank` the closing balance of the statement.
    They differ by `in_transit`: what the books count already and the statement does not, less what
    the statement shows and the books count later. Each of these lines is named (`InTransit`).
    `closed_by` is empty where the day closed by itself.
    """

    id = PrefixedIdField("cld")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    statement = models.OneToOneField(
        BankStatement, on_delete=models.PROTECT, related_name="closed_day"
    )
    follows = models.OneToOneField(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="followed_by"
    )
    day = models.DateField()
    ledger = models.BigIntegerField()
    bank = models.BigIntegerField()
    in_transit = models.BigIntegerField()
    in_transit_lines = models.PositiveIntegerField()
    matches = models.PositiveIntegerField()
    expected_lines = models.PositiveIntegerField()
    closed_at = models.DateTimeField()
    closed_by = columns.staff()

    class Meta:
        verbose_name = "closed day"
        permissions = (("close_day", "Can close a day of a settlement account"),)
        constraints = (
            models.UniqueConstraint(fields=("rail", "day"), name="one_closed_day"),
            models.UniqueConstraint(
                fields=("rail",), condition=Q(follows=None), name="one_first_closed_day"
            ),
            models.CheckConstraint(
                condition=Q(ledger=F("bank") + F("in_transit")), name="closed_day_comes_to_zero"
            ),
        )
        indexes = (models.Index(fields=("closed_at",), name="closed_day_age"),)

    def __str__(self) -> str:
        return f"{self.day:%B %-d, %Y} of {self.rail_id}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class InTransit(models.Model):
    """A line of the books that was in transit when a day closed: `amount` cents that the books
    counted and the statement did not. With the other sign where the statement was first."""

    pk = models.CompositePrimaryKey("day_id", "line")
    day = models.ForeignKey(
        ClosedDay, on_delete=models.PROTECT, related_name="lines_in_transit", db_index=False
    )
    line = models.BigIntegerField()
    amount = models.BigIntegerField()

    class Meta:
        verbose_name = "line in transit"
        verbose_name_plural = "lines in transit"

    def __str__(self) -> str:
        return f"line {self.line}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class TransitNote(models.Model):
    """Why a line of the books is long in transit: up to `until` it does not keep days open."""

    id = PrefixedIdField("trn")
    line = models.BigIntegerField()
    reason = columns.reason()
    until = models.DateField()
    written_by = columns.staff()
    written_at = models.DateTimeField()

    class Meta:
        verbose_name = "note on a line in transit"
        verbose_name_plural = "notes on lines in transit"
        permissions = (("explain_intransit", "Can explain what is long in transit"),)
        constraints = (
            models.CheckConstraint(
                condition=~Q(reason="") & ~Q(written_by=""), name="transit_note_says_why"
            ),
        )
        indexes = (models.Index(fields=("line", "-written_at"), name="transit_note_by_line"),)

    def __str__(self) -> str:
        return f"note on line {self.line}"
