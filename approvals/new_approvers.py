"""Nobody approves money out, or lowers its protection, who came to approve a short time ago."""

from __future__ import annotations

from datetime import datetime

from approvals.errors import NewApprover
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.models import ActorType


def refuse_new(*, tenant_id: str, by: Actor, now: datetime) -> None:
    """Raises NewApprover until the owners had time to read of it (decision 0169). One query."""
    if by.type != ActorType.USER:
        return
    approves_from = tenants.approves_from(tenant_id=tenant_id, user_id=by.id)
    if approves_from is not None and now < approves_from:
        raise NewApprover(
            "You came to approve here, or chose a password by e-mail, a short time ago."
        )
