"""What the books say that a bank statement should show, and what it was matched with.

A line of the operator's books that moves `settlement` is expected on the statements of its rail's
account. A match ties lines of statements to expected lines of the same sum. Cents above zero are
money that came to the account, below zero money that left it.
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from balance.operator.accounts import OperatorAccount, Step, steps_on
from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import AchRail, columns
from reconciliation.models import closed
from reconciliation.models.statements import StatementLine

MATCH_PREFIX = "mat"
_STEP_LENGTH = 24
_SETTLING = steps_on(OperatorAccount.SETTLEMENT)


class Rule(models.TextChoices):
    """What matched some lines: the first four and `NETTED` are tried in this order. Lines of the
    books of the others were written for their match (`BOOKED`, `CLEARED`), or chosen (`PERSON`)."""

    FILE = "file", "Our file's reference"
    BATCH = "batch", "Total of a batch on its settlement date"
    RETURNS = "returns", "Return, or total of returns"
    END_TO_END = "end_to_end", "Reference of one transfer"
    BOOKED = "booked", "Booked by what the bank says"  # a fee, or suspense
    NETTED = "netted", "Zero, of which the bank shows nothing"
    PERSON = "person", "By hand"
    CLEARED = "cleared", "Cleared from suspense"


# The books know of these lines by the bank alone, so their match is not taken back.
WRITTEN_FOR = frozenset({Rule.BOOKED, Rule.CLEARED})


class Match(models.Model):
    """Lines of statements and expected lines of the same sum, `amount` cents.

    `day` is the day of the statement on which they count. A match by `CLEARED` or `NETTED` has
    expected lines only, which come to zero. `made_by` is empty where a rule found it. A match of a
    day that is not closed may be unmatched (`voided_at`): then its lines are free again.
    """

    id = PrefixedIdField(MATCH_PREFIX)
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    rule = models.CharField(max_length=10, choices=Rule)
    day = models.DateField()
    amount = models.BigIntegerField()
    statement_lines = models.PositiveIntegerField()
    expected_lines = models.PositiveIntegerField()
    made_at = models.DateTimeField()
    made_by = columns.staff()
    reason = columns.reason()
    voided_at = columns.moment()
    voided_by = columns.staff()
    voided_why = columns.reason()

    class Meta:
        permissions = (("match_statementline", "Can match lines of bank statements"),)
        verbose_name_plural = "matches"
        constraints = (
            columns.one_of("rule", Rule, "match_rule_known"),
            models.CheckConstraint(
                condition=Q(statement_lines__gte=1) | Q(rule__in=("cleared", "netted"), amount=0),
                name="match_has_statement_lines",
            ),
            models.CheckConstraint(
                condition=~Q(rule="person") | (~Q(made_by="") & ~Q(reason="")),
                name="match_by_hand_says_why",
            ),
            models.CheckConstraint(
                condition=Q(voided_at=None, voided_by="", voided_why="")
                | (Q(voided_at__isnull=False) & ~Q(voided_by="") & ~Q(voided_why="")),
                name="match_voided_says_why",
            ),
        )
        indexes = (
            models.Index(fields=("rail", "day", "id"), name="match_by_day"),
            models.Index(fields=("made_at",), name="match_age"),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="match_never_changes", exclude=("voided_at", "voided_by", "voided_why")
            ),
            pgtrigger.Protect(
                name="match_voided_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.voided_at IS NOT NULL"),
            ),
            closed.never_added("day"),
            closed.never_changed(),
        )

    def __str__(self) -> str:
        return f"{self.get_rule_display()} of {self.day:%B %-d, %Y}"


# A line is matched, or free again: never passed from one match to another.
_MATCHED_OR_FREE = pgtrigger.Protect(
    name="matched_or_free",
    operation=pgtrigger.Update,
    condition=pgtrigger.Condition("OLD.match_id IS NOT NULL AND NEW.match_id IS NOT NULL"),
)


class MatchedLine(models.Model):
    """That a line of a statement is matched; without `match` it is free again."""

    line = models.OneToOneField(
        StatementLine, on_delete=models.PROTECT, primary_key=True, related_name="matched"
    )
    match = models.ForeignKey(
        Match, on_delete=models.PROTECT, null=True, blank=True, related_name="of_bank"
    )

    class Meta:
        verbose_name = "matched line"
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(name="matched_line_never_moves", fields=("line",)),
            _MATCHED_OR_FREE,
            closed.never_added_to_match(),
            closed.never_moved(),
        )

    def __str__(self) -> str:
        return f"line {self.line_id}"


class ExpectedLine(models.Model):
    """One line of the operator's books that moves `settlement`, as the bank should show it.

    `line` is its id in the books; no constraint compares, the audit does. `counts_on` is the day of
    the line, or the first day that was not closed when the line was taken. `batch` and `file` are
    those of the entry that it belongs to (ids of AchBatch and OutFile), `trace` the trace number by
    which the bank knows it: a return's own, or the entry's. `reference` is what our files call the
    transfer.
    """

    line = models.BigIntegerField(primary_key=True)
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="+", db_index=False)
    step = models.CharField(max_length=_STEP_LENGTH, choices=Step)
    amount = models.BigIntegerField()
    counts_on = models.DateField()
    batch = models.BigIntegerField(null=True, blank=True)
    file = models.CharField(max_length=32, blank=True)
    trace = models.CharField(max_length=15, blank=True)
    reference = models.CharField(max_length=64, blank=True)
    match = models.ForeignKey(
        Match, on_delete=models.PROTECT, null=True, blank=True, related_name="of_books"
    )
    taken_at = models.DateTimeField()

    class Meta:
        verbose_name = "expected line"
        constraints = (
            models.CheckConstraint(condition=~Q(amount=0), name="expected_line_moves_money"),
            models.CheckConstraint(
                condition=Q(step__in=_SETTLING), name="expected_line_moves_settlement"
            ),
        )
        indexes = (
            models.Index(
                fields=("rail", "counts_on"), include=("amount",), name="expected_line_by_day"
            ),
            models.Index(
                fields=("rail", "counts_on", "line"),
                include=("amount",),
                name="expected_line_open",
                condition=Q(match=None),
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(name="expected_line_never_changes", exclude=("match",)),
            _MATCHED_OR_FREE,
            closed.never_added("counts_on"),
            closed.never_moved(),
        )

    def __str__(self) -> str:
        return f"{Step(self.step).label} of {self.counts_on:%B %-d, %Y}"
