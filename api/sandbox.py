"""What all endpoints below `/sandbox` share."""

from __future__ import annotations

from collections.abc import Sequence

from drf_spectacular.utils import OpenApiParameter

from api.authentication import TenantRequest
from common.errors import NotFound


def require_sandbox(request: TenantRequest) -> None:
    """Refuse live tenants, who do not have these endpoints. Raises NotFound."""
    if request.auth.mode != "sandbox":
        raise NotFound("Only sandbox tenants have this.")


def step_parameter(names: Sequence[str]) -> OpenApiParameter:
    """The last word of a path: what the sandbox bank shall do."""
    return OpenApiParameter("name", str, OpenApiParameter.PATH, enum=list(names))
