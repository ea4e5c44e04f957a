"""The reports, the trees behind them, and each tenant's leaf. Nothing is changed or deleted."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.fields import PrefixedIdField

DIGEST_LENGTH = 64
KEY_ID_LENGTH = 32
_SIGNATURE_LENGTH = 88


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class ProofReport(models.Model):
    """The signed report of a day.

    `content` is the very text that was signed (`solvency.reports`); its figures stand nowhere else.
    `digest` is its SHA-256. `follows` is the report before, whose digest the content holds; each
    has one that follows at most, and only the first one follows none.
    """

    id = PrefixedIdField("pof")
    day = models.DateField(unique=True)
    follows = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    content = models.TextField()
    digest = models.CharField(max_length=DIGEST_LENGTH)
    key_id = models.CharField(max_length=KEY_ID_LENGTH)
    signature = models.CharField(max_length=_SIGNATURE_LENGTH)
    taken_at = models.DateTimeField()

    class Meta:
        verbose_name = "proof of funds"
        verbose_name_plural = "proofs of funds"
        constraints = (
            models.UniqueConstraint(
                fields=("follows",), nulls_distinct=False, name="one_proof_follows"
            ),
        )
        indexes = (models.Index(fields=("taken_at",), name="proof_age"),)

    def __str__(self) -> str:
        return f"{self.day:%B %-d, %Y}"


class ProofTree(models.Model):
    """What a report's leaves are made with: the secret of their salts, encrypted, and all nodes
    (`solvency.tree.Tree.packed`), so that a path up is read without the other leaves."""

    report = models.OneToOneField(
        ProofReport, on_delete=models.PROTECT, primary_key=True, related_name="tree"
    )
    secret_token = models.TextField(editable=False)
    nodes = models.BinaryField()

    class Meta:
        verbose_name = "tree of a proof"
        verbose_name_plural = "trees of proofs"
        triggers = (
            NEVER_TRUNCATED,
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            # Its token is written anew when the key changes.
            pgtrigger.ReadOnly(name="proof_tree_never_changes", exclude=("secret_token",)),
        )

    def __str__(self) -> str:
        return f"tree of {self.report_id}"

    @property
    def encryption_context(self) -> str:
        return f"solvency.tree:{self.report_id}"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class ProofLeaf(models.Model):
    """What a tenant owned by a report, in cents. `index` is its place among the leaves.

    `overdrawn` is how far the available balance was below zero; the leaf has 0 then. `sequence` is
    the last line of the tenant's ledger that is counted.
    """

    pk = models.CompositePrimaryKey("report_id", "tenant_id")
    report = models.ForeignKey(
        ProofReport, on_delete=models.PROTECT, related_name="leaves", db_index=False
    )
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    index = models.IntegerField()
    available = models.BigIntegerField()
    settled = models.BigIntegerField()
    locked = models.BigIntegerField()
    overdrawn = models.BigIntegerField()
    sequence = models.BigIntegerField()

    class Meta:
        verbose_name = "leaf of a proof"
        verbose_name_plural = "leaves of proofs"
        constraints = (
            models.UniqueConstraint(fields=("report", "index"), name="one_leaf_a_place"),
            models.CheckConstraint(
                condition=Q(index__gte=0, available__gte=0, settled__gte=0, locked__gte=0),
                name="leaf_amounts_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(overdrawn=0) | Q(overdrawn__gt=0, available=0),
                name="leaf_overdrawn_has_nothing",
            ),
        )
        indexes = (models.Index(fields=("tenant", "-report"), name="proof_leaf_of_tenant"),)

    def __str__(self) -> str:
        return f"leaf {self.index:,} of {self.report_id}"
