"""What the seal covers of access: the audit log, also the lines that belong to no tenant."""

from __future__ import annotations

from common.sealed import DatedRows
from tenants.models import AuditEvent

KINDS = (
    DatedRows(
        name="audit",
        label="audit log",
        model=AuditEvent,
        layouts=(
            "id tenant_id actor_type actor_id action subject_id details request_id address"
            " staff_note created_at",
        ),
    ),
)
