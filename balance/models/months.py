"""Totals of months that are over."""

from __future__ import annotations

import pgtrigger
from django.db import models

from balance.kinds import PostingType
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class ClosedMonthTotal(models.Model):
    """All lines of one type in one Eastern month of a tenant that is over, in cents.

    `balance.closed_months` writes and judges them.
    """

    pk = models.CompositePrimaryKey("tenant_id", "first", "type")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    first = models.DateField(help_text="the first day of the month")
    type = models.CharField(max_length=10, choices=PostingType)
    lines = models.BigIntegerField()
    available_delta = models.BigIntegerField()
    locked_delta = models.BigIntegerField()

    class Meta:
        db_table = "balance_closed_month_total"

    def __str__(self) -> str:
        return f"{self.type} of {self.tenant_id} in {self.first:%Y-%m}"
