"""Permissions: the tenant is active, and the key has the scope that the action names. An action
without a scope is never allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from api import errors
from tenants import scopes
from tenants.errors import ReadOnlyMode, TenantSuspended

if TYPE_CHECKING:  # DRF imports this module while it builds its own views
    from rest_framework.views import APIView

    from api.authentication import ApiCaller

_CHALLENGE = 'Bearer error="insufficient_scope", scope="{scope}"'


class IsActiveTenant(BasePermission):
    """Refuses the keys of a suspended tenant, reads included. Raises TenantSuspended."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if cast("ApiCaller", request.auth).holder.is_suspended:
            raise TenantSuspended("This tenant is suspended.")
        return True


class IsWritable(BasePermission):
    """Refuses changes while operators let nothing be changed. Raises ReadOnlyMode."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if (
            request.method not in SAFE_METHODS
            and cast("ApiCaller", request.auth).holder.is_read_only
        ):
            raise ReadOnlyMode("Nothing can be changed for the moment; reads go on.")
        return True


class HasScope(BasePermission):
    """Requires the scope of the view's action. Raises InsufficientScope."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        action = view.action_map.get((request.method or "").lower())  # type: ignore[attr-defined]
        if action is None:  # a method this path does not have: the 405 follows
            return True
        scope = view.scopes[action]  # type: ignore[attr-defined]  # ApiViewSet
        if scope not in scopes.ALL:
            raise KeyError(f"{scope} is not a scope")
        if scope not in cast("ApiCaller", request.auth).scopes:
            raise errors.InsufficientScope(
                f"This needs {scope}.",
                headers={"WWW-Authenticate": _CHALLENGE.format(scope=scope)},
                required_scope=scope,
            )
        return True
