"""What was paid out by the hour, for the limits on money out."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q

from common.database.append_only import NEVER_TRUNCATED
from payments.models.payments import SCOPE_LENGTH_MAX


@pgtrigger.register(NEVER_TRUNCATED)
class PaymentTotal(models.Model):
    """The payments of one scope that were ordered in one hour and have not failed since. Cents.

    `scope` is `tenant`, or `recipient:`, `key:` or `person:` with what tells one from the others.
    `unasked` is the part of `amount` for which no second person was asked. It is written under the
    lock of the tenant's balance (`payments.services.totals`).
    """

    pk = models.CompositePrimaryKey("tenant_id", "scope", "hour")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    scope = models.CharField(max_length=SCOPE_LENGTH_MAX)
    hour = models.DateTimeField(help_text="when the hour begins")
    payments = models.BigIntegerField()
    amount = models.BigIntegerField()
    unasked = models.BigIntegerField()

    class Meta:
        indexes = (BrinIndex(fields=("hour",), name="payment_total_age"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(payments__gte=0, amount__gte=0, unasked__gte=0)
                & Q(unasked__lte=F("amount")),
                name="payment_total_in_range",
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope} of {self.tenant_id} from {self.hour:%Y-%m-%d %H:%M}"
