"""What every endpoint below `/sandbox` has in common."""

from __future__ import annotations

from api.authentication import TenantRequest
from common.errors import NotFound


def require_sandbox(request: TenantRequest) -> None:
    """Live tenants do not have these endpoints. Raises NotFound."""
    if request.auth.mode != "sandbox":
        raise NotFound("Only sandbox tenants have this.")
