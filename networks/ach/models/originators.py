"""In whose name entries go out, and how much may be on its way for it."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import NEVER_TRUNCATED
from common.fields import PrefixedIdField
from networks.ach.models import columns
from networks.ach.models.rails import AchRail


class Originator(models.Model):
    """The company of a tenant (`tenant_id`), or of all that have none of their own (empty).

    Limits are cents; null means none. `debits_stopped_at` is set while no new debit is taken;
    `debits_released_at` is when a person last let them go on.
    """

    id = PrefixedIdField("ori")
    rail = models.ForeignKey(AchRail, on_delete=models.PROTECT, related_name="originators")
    tenant_id = models.CharField(max_length=columns.TENANT_LENGTH_MAX, blank=True)
    company_name = models.CharField(max_length=16)
    company_id = models.CharField(max_length=10)
    daily_debit_max = models.BigIntegerField(null=True, blank=True)
    daily_credit_max = models.BigIntegerField(null=True, blank=True)
    exposure_max = models.BigIntegerField(null=True, blank=True)
    debits_stopped_at = columns.moment()
    debits_stopped_why = columns.reason()
    debits_released_at = columns.moment()
    created_at = models.DateTimeField()
    ended_at = columns.moment()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("rail", "tenant_id"),
                condition=Q(ended_at=None),
                name="one_originator_per_tenant",
            ),
            models.CheckConstraint(
                condition=~Q(company_name="") & ~Q(company_id=""), name="originator_has_a_name"
            ),
            models.CheckConstraint(
                condition=(Q(daily_debit_max=None) | Q(daily_debit_max__gte=0))
                & (Q(daily_credit_max=None) | Q(daily_credit_max__gte=0))
                & (Q(exposure_max=None) | Q(exposure_max__gte=0)),
                name="originator_limits_positive",
            ),
            models.CheckConstraint(
                condition=Q(debits_stopped_at=None, debits_stopped_why="")
                | (Q(debits_stopped_at__isnull=False) & ~Q(debits_stopped_why="")),
                name="originator_stop_has_a_reason",
            ),
        )
        triggers = (
            NEVER_TRUNCATED,
            columns.NEVER_DELETED,
            pgtrigger.ReadOnly(
                name="originator_never_moves", fields=("rail", "tenant_id", "created_at")
            ),
        )

    def __str__(self) -> str:
        return self.company_name if self.tenant_id else f"{self.company_name} (everybody)"
