"""Which rows of this app are sealed: the audit log (with the lines of no tenant), whose each API
key is, who moves real money, who of our staff has which role since when, and who asked for and who
decided on access."""

from __future__ import annotations

from common.sealed import DatedRows
from tenants.models import AccessProposal, ApiKey, AuditEvent, StaffPower, Tenant

_OF_NO_TENANT = "NULL::text"
_GRANTED = "user_id group_id asked_by_id granted_by_id granted_at"
_ASKED = (
    "kind email tenant_id role new_email groups reason is_emergency proposed_by_id proposed_at"
    " waits_until ends_at"
)
_DECIDED = "decision decided_by_id decided_at decision_note"

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
            "name scopes allowed_networks reads_per_second writes_per_second"
            " may_loosen_auto_funding expires_at revoked_at last_used_at"
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
    DatedRows(
        name="powers",
        label="roles of staff",
        model=StaffPower,
        at="granted_at",
        tenant=_OF_NO_TENANT,
        layouts=(f"id {_GRANTED}",),
        left_out="ended_at",
    ),
    DatedRows(
        name="power_ends",
        label="ends of roles of staff",
        model=StaffPower,
        at="ended_at",
        tenant=_OF_NO_TENANT,
        layouts=("id ended_at",),
        left_out=_GRANTED,
    ),
    DatedRows(
        name="access",
        label="proposals of access",
        model=AccessProposal,
        at="proposed_at",
        layouts=(f"id {_ASKED}",),
        left_out=_DECIDED,
    ),
    DatedRows(
        name="access_ends",
        label="decisions on access",
        model=AccessProposal,
        at="decided_at",
        layouts=(f"id {_DECIDED}",),
        left_out=_ASKED,
    ),
)
