"""What the API itself stores: idempotent answers and the request log."""

from __future__ import annotations

from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from common import days
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.ids import ID_LENGTH_MAX


class IdempotencyRecord(models.Model):
    """The answer given to the first request with a key; later ones get the same, without a
    secret that is shown once."""

    id = PrefixedIdField("idm")
    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.PROTECT, db_index=False)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, path and body")
    status = models.SmallIntegerField()
    body_token = models.TextField(editable=False, help_text="the answer's body, encrypted")
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    app_rights = Rights(delete=True)

    class Meta:
        verbose_name = "idempotency key"
        constraints = (
            models.UniqueConstraint(fields=("tenant", "key"), name="one_answer_per_key"),
        )
        indexes = (models.Index(fields=("created_at",), name="idempotency_age"),)

    def __str__(self) -> str:
        return f"answer {self.status}, {days.when(self.created_at)}"

    @property
    def encryption_context(self) -> str:
        """Binds the stored body to its tenant and key."""
        return f"idempotency_record.body:{self.tenant_id}:{self.key}"


class ApiRequest(models.Model):
    """One request of a tenant's key and how it was answered, with a few fields of its body
    (api/request_fields.py). Written in batches after the answer (api/request_log.py), kept for
    REQUEST_LOG_DAYS."""

    id = PrefixedIdField("req")
    # No foreign keys in the database: writing a log must lock no row of its subject.
    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    key = models.ForeignKey(
        "tenants.ApiKey", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    request_id = models.CharField(
        max_length=128, help_text="X-Request-Id; the caller may repeat it"
    )
    method = models.CharField(max_length=16)
    path = models.CharField(max_length=300)
    query = models.CharField(max_length=500, blank=True)
    status = models.PositiveSmallIntegerField()
    fields = models.JSONField(null=True, blank=True, help_text="what is kept of the body")
    error_code = models.CharField(max_length=64, blank=True)
    problem = models.JSONField(null=True, blank=True, help_text="the answer to a refused request")
    idempotency_key = models.CharField(max_length=255, blank=True)
    address = models.CharField(max_length=45, blank=True)
    duration_us = models.PositiveIntegerField(help_text="microseconds until the answer was ready")
    made_id = models.CharField(
        max_length=ID_LENGTH_MAX,
        blank=True,
        default="",
        db_default="",
        db_collation="C",
        help_text="the id of what it made, by the answer's Location",
    )
    created_at = models.DateTimeField()

    app_rights = Rights(delete=True)

    class Meta:
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="request_by_tenant"),
            models.Index(
                fields=("tenant", "-created_at", "-id"),
                name="request_refused",
                condition=models.Q(status__gte=400),
            ),
            models.Index(fields=("tenant", "request_id"), name="request_by_request_id"),
            models.Index(
                fields=("tenant", "made_id"), name="request_made", condition=~models.Q(made_id="")
            ),
            BrinIndex(fields=("created_at",), name="request_age"),
        )

    def __str__(self) -> str:
        return f"{self.method} {self.path} → {self.status}"
