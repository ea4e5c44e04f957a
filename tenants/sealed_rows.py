"""Which rows of this app are sealed: the audit log (with the lines of no tenant), whose each API
key is, and who moves real money."""

from __future__ import annotations

from common.sealed import DatedRows
from tenants.models import ApiKey, AuditEvent, Tenant

KINDS = (
    DatedRows(
        name="audit",
        label="audit log",
        model=AuditEvent,
        layouts=(
            "id tenant_id actor_type actor_id action subject_id details request_id address"
            " staff_note created_at",
        ),
        named=True,
    ),
    DatedRows(
        name="keys",
        label="API keys",
        model=ApiKey,
        layouts=("id tenant_id prefix digest created_at",),
        left_out=(
            "name scopes allowed_networks reads_per_second writes_per_second expires_at revoked_at"
            " last_used_at"
        ),
    ),
    DatedRows(
        name="tenants",
        label="tenants",
        model=Tenant,
        tenant="line.id",
        layouts=("id mode created_at",),
        left_out="name status requires_second_factor",
    ),
)
