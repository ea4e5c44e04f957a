"""The rules that start funding by themselves, and what they decided."""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField
from funding.models.sources import FundingMethod, FundingSource
from funding.models.transactions import FundingTransaction


class AutoFundingConfig(models.Model):
    """One tenant's rule: below the threshold, add this much. Amounts are cents."""

    id = PrefixedIdField("afc")
    tenant = models.OneToOneField("tenants.Tenant", on_delete=models.PROTECT)
    enabled = models.BooleanField(default=False)
    low_balance_threshold = models.BigIntegerField(null=True, blank=True)
    funding_amount = models.BigIntegerField(null=True, blank=True)
    funding_method = models.CharField(max_length=9, choices=FundingMethod, blank=True)
    confirmation_threshold = models.BigIntegerField(null=True, blank=True)
    source = models.ForeignKey(FundingSource, on_delete=models.PROTECT, null=True, blank=True)
    monthly_limit = models.BigIntegerField(null=True, blank=True)
    confirmation_emails = ArrayField(models.EmailField(), default=list, blank=True)
    confirm_topups = models.BooleanField(default=False)
    paused_reason = models.CharField(max_length=40, blank=True)
    paused_until = models.DateTimeField(
        null=True, blank=True, help_text="empty while paused: until a person acts"
    )
    failures_in_a_row = models.PositiveSmallIntegerField(default=0)
    last_decline_reason = models.CharField(max_length=40, blank=True)
    low_since = models.DateTimeField(
        null=True, blank=True, help_text="when the balance was first seen below the threshold"
    )
    last_triggered_at = models.DateTimeField(null=True, blank=True)
    resumed_at = models.DateTimeField(
        null=True, blank=True, help_text="when a person last ended a pause"
    )
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name = verbose_name_plural = "auto-funding"
        constraints = (
            models.CheckConstraint(
                condition=Q(enabled=False)
                | (
                    Q(low_balance_threshold__gte=0, funding_amount__gte=1)
                    & Q(low_balance_threshold__isnull=False, funding_amount__isnull=False)
                    & ~Q(funding_method="")
                ),
                name="enabled_auto_funding_is_complete",
            ),
            models.CheckConstraint(
                condition=~Q(paused_reason="") | Q(paused_until=None),
                name="auto_funding_pause_has_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"auto-funding of {self.tenant}"


class DecisionOutcome(models.TextChoices):
    FIRED = "fired"
    DECLINED = "declined"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class AutoFundingDecision(models.Model):
    """Why auto-funding did, or did not, add money. One row per firing or new reason not to."""

    id = PrefixedIdField("afd")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    outcome = models.CharField(max_length=8, choices=DecisionOutcome)
    reason = models.CharField(max_length=40)
    available = models.BigIntegerField()
    in_flight = models.BigIntegerField()
    threshold = models.BigIntegerField()
    amount = models.BigIntegerField()
    funding = models.ForeignKey(FundingTransaction, on_delete=models.PROTECT, null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "auto-funding decision"
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="decision_by_tenant"),
        )

    def __str__(self) -> str:
        reason, when = self.reason.replace("_", " "), days.when(self.created_at)
        return f"{DecisionOutcome(self.outcome).label}: {reason}, {when}"
