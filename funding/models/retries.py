"""What a tenant wants to happen with top-ups that come back for want of funds."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField

AFTER_DAYS_MAX = 10


class RetryRule(models.Model):
    """How often a returned top-up is tried again by itself, and how many banking days after each
    return. What came back before `since` is left alone. Without a row, or with `times` 0, only
    people try again."""

    id = PrefixedIdField("rtr")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT, related_name="+")
    times = models.PositiveSmallIntegerField()
    after_days = models.PositiveSmallIntegerField()
    since = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(times__range=(0, 2)), name="retried_twice_at_most"),
            models.CheckConstraint(
                condition=Q(after_days__range=(1, AFTER_DAYS_MAX)), name="retried_within_ten_days"
            ),
        )

    def __str__(self) -> str:
        return f"tries again {self.times} times, after {self.after_days} banking days"
