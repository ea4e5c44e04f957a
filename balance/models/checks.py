"""The audits of the ledger, and how far each chain is proven."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from common.fields import PrefixedIdField


class LedgerCheckpoint(models.Model):
    """How far a tenant's chain is proven, so that the next audit reads only what came after.

    `digest` sums a hash of each proven row: the full audit sees any later change of old rows.
    """

    tenant = models.OneToOneField(
        "tenants.Tenant", on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    sequence = models.BigIntegerField()
    available = models.BigIntegerField()
    locked = models.BigIntegerField()
    digest = models.DecimalField(max_digits=40, decimal_places=0)
    proven_at = models.DateTimeField()

    class Meta:
        db_table = "balance_checkpoint"

    def __str__(self) -> str:
        return f"{self.tenant_id} proven up to {self.sequence}"


class LedgerCheck(models.Model):
    """One run of the audit. Without `finished_at`: still running, or killed."""

    id = PrefixedIdField("chk")
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    is_full = models.BooleanField("from the first row")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, null=True, related_name="+"
    )
    ok = models.BooleanField(null=True)
    findings = models.JSONField(default=list)

    class Meta:
        db_table = "balance_ledger_check"
        permissions = (
            ("run_check", "Can start a ledger check"),
            ("export_journal", "Can export the journal"),
        )
        indexes = (models.Index(fields=("-started_at",), name="ledger_check_latest"),)
        constraints = (
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, ok__isnull=True)
                | Q(finished_at__isnull=False, ok__isnull=False),
                name="ledger_check_judged_when_finished",
            ),
        )

    def __str__(self) -> str:
        return f"ledger check of {self.started_at:%Y-%m-%d %H:%M}"
