"""What every endpoint below `/sandbox` has in common."""

from __future__ import annotations

from collections.abc import Sequence

from drf_spectacular.utils import OpenApiParameter

from api.authentication import TenantRequest
from common.errors import NotFound


def require_sandbox(request: TenantRequest) -> None:
    """Live tenants do not have these endpoints. Raises NotFound."""
    if request.auth.mode != "sandbox":
        raise NotFound("Only sandbox tenants have this.")


def step_parameter(names: Sequence[str]) -> OpenApiParameter:
    """The last word of a path: what the bank shall do."""
    return OpenApiParameter("name", str, OpenApiParameter.PATH, enum=list(names))
