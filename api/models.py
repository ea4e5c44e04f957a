"""What the API border itself has to remember."""

from __future__ import annotations

from django.db import models

from common.fields import PrefixedIdField


class IdempotencyRecord(models.Model):
    """The answer given to the first request with a key; later ones get the same bytes."""

    id = PrefixedIdField("idm")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, path and body")
    status = models.SmallIntegerField()
    body_token = models.TextField(editable=False, help_text="the answer's body, encrypted")
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("tenant", "key"), name="one_answer_per_key"),
        )
        indexes = (models.Index(fields=("created_at",), name="idempotency_age"),)

    def __str__(self) -> str:
        return f"{self.key} → {self.status}"

    @property
    def encryption_context(self) -> str:
        """Binds the stored body to its tenant and key."""
        return f"idempotency_record.body:{self.tenant_id}:{self.key}"
