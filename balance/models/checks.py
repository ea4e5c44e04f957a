"""The audits of the ledger, and how far each chain is proven."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common import days
from common.database.append_only import NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField


@pgtrigger.register(NEVER_TRUNCATED)
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
        return f"{self.tenant}, proven up to line {self.sequence:,}"


class LedgerFullProof(models.Model):
    """When a tenant was last proven from its first row, and how far a running proof has come.

    `proven_at` is when the last proof began, by the database's clock; `is_ok` says that it found
    nothing. Of a running proof, `began_at` is its beginning, `is_clean` whether it has found
    nothing so far, and `step` and `after` where it continues.
    """

    tenant = models.OneToOneField(
        "tenants.Tenant", on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    proven_at = models.DateTimeField(null=True)
    is_ok = models.BooleanField()
    began_at = models.DateTimeField(null=True)
    is_clean = models.BooleanField(null=True)
    step = models.CharField(max_length=40, blank=True)
    after = models.CharField(max_length=40, blank=True)

    class Meta:
        db_table = "balance_full_proof"

    def __str__(self) -> str:
        return f"{self.tenant_id} proven in full at {self.proven_at}"


class LedgerCheck(models.Model):
    """One run of the audit. Without `finished_at`: still running, or killed.

    An audit of all tenants begins by adding up what they have: `totals` (`balance.figures.Totals`).
    """

    id = PrefixedIdField("chk")
    started_at = models.DateTimeField()
    looked_at = models.DateTimeField(
        null=True, help_text="when it began, by the database's clock: the next one goes on there"
    )
    finished_at = models.DateTimeField(null=True)
    is_full = models.BooleanField("from the first row")
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, null=True, related_name="+"
    )
    ok = models.BooleanField(null=True)
    findings = models.JSONField(default=list)
    totals = models.JSONField(null=True, help_text="cents that all tenants had when it began")

    app_rights = Rights(delete=True)

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
        return f"ledger check of {days.when(self.started_at)}"
