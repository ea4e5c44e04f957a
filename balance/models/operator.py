"""The operator's lines and their totals by day."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Func

from balance.models.ledger import SOURCE_LENGTH_MAX
from balance.operator.accounts import Step
from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.database.rights import Rights
from common.money import format_cents

_STEP_LENGTH = 24
RAIL_LENGTH = 16


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class OperatorLine(models.Model):
    """A double entry between two accounts of the operator, which its step names. Cents.

    `tenant` is whom it concerns, for staff; tenants see none of it. `day` is the banking day of the
    money, `created_at` when it was written. Written by `balance.operator.posting` alone.
    """

    id = models.BigAutoField(primary_key=True)
    step = models.CharField(max_length=_STEP_LENGTH, choices=Step)
    amount = models.BigIntegerField()
    rail = models.CharField(max_length=RAIL_LENGTH, blank=True)
    source_type = models.CharField(max_length=SOURCE_LENGTH_MAX)
    source_id = models.CharField(max_length=SOURCE_LENGTH_MAX, db_collation="C")
    # The source has this tenant, as the audit proves: a constraint would be half of a line's work.
    tenant = models.ForeignKey(
        "tenants.Tenant",
        on_delete=models.PROTECT,
        related_name="+",
        null=True,
        db_index=False,
        db_constraint=False,
    )
    day = models.DateField()
    created_at = models.DateTimeField()

    app_rights = Rights(insert=False, update=False)

    class Meta:
        db_table = "balance_operator_line"
        constraints = (
            models.UniqueConstraint(
                fields=("source_id", "source_type", "step"), name="operator_line_once"
            ),
            # A function, because each statement would read lists of steps anew (decision 0213).
            models.CheckConstraint(
                condition=Func(
                    F("step"),
                    F("amount"),
                    F("rail"),
                    F("tenant"),
                    function="balance_operator_line_is_sound",
                    output_field=models.BooleanField(),
                ),
                name="operator_line_is_sound",
            ),
        )
        indexes = (BrinIndex(fields=("created_at",), name="operator_line_age"),)

    def __str__(self) -> str:
        label, when = Step(self.step).label, days.when(self.created_at)
        return f"{label}, {format_cents(self.amount)}, {when}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class OperatorDay(models.Model):
    """All lines of one step and rail that were written on one Eastern day that is over, in cents.

    `balance.operator.totals` writes and judges them.
    """

    pk = models.CompositePrimaryKey("booked_on", "rail", "step")
    booked_on = models.DateField()
    rail = models.CharField(max_length=RAIL_LENGTH, blank=True)
    step = models.CharField(max_length=_STEP_LENGTH, choices=Step)
    lines = models.BigIntegerField()
    amount = models.BigIntegerField()

    class Meta:
        db_table = "balance_operator_day"

    def __str__(self) -> str:
        return f"{self.step} on {self.booked_on} by {self.rail or 'no rail'}"
