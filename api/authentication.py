"""API keys as DRF authentication. A session cookie never opens the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import structlog
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from api import errors
from api.addresses import client_address, is_within
from common.clock import utc_now
from common.database import doors
from tenants import actors, selectors
from tenants.actors import Actor
from tenants.selectors import KeyHolder
from tenants.services import keys

# The attribute in which the middleware finds who called.
KEY_HOLDER = "ballast.key_holder"

_BAD_TOKEN = {"WWW-Authenticate": 'Bearer error="invalid_token"'}
_NO_TOKEN = {"WWW-Authenticate": "Bearer"}
_HOW = "Send it as `Authorization: Bearer <API key>`."


@dataclass(frozen=True)
class ApiCaller:
    """Who calls: `request.auth` and `request.user` of every API request."""

    holder: KeyHolder
    is_authenticated: bool = True

    @property
    def tenant_id(self) -> str:
        return self.holder.tenant_id

    @property
    def key_id(self) -> str:
        return self.holder.key_id

    @property
    def mode(self) -> str:
        return self.holder.mode

    @property
    def scopes(self) -> frozenset[str]:
        return self.holder.scopes

    @property
    def actor(self) -> Actor:
        return actors.api_key(self.holder.key_id)


class TenantRequest(Request):
    """A request that passed ApiKeyAuthentication."""

    auth: ApiCaller
    known_parameters: frozenset[str]  # of a list's filters: StrictFilterSet.apply sets it
    user: ApiCaller  # type: ignore[assignment]  # DRF types it as a Django user


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer <API key>`; costs one query, and a write once a minute."""

    def authenticate(self, request: Request) -> tuple[ApiCaller, ApiCaller]:
        now = utc_now()
        holder = selectors.find_key_holder(text=_presented_key(request), now=now)
        if holder is None:
            raise errors.InvalidToken("This API key is not valid.", headers=_BAD_TOKEN)
        doors.see(holder.tenant_id)
        request.META[KEY_HOLDER] = holder
        structlog.contextvars.bind_contextvars(tenant_id=holder.tenant_id, key_id=holder.key_id)
        allowed = holder.allowed_networks
        if allowed and not is_within(client_address(request), allowed):
            raise errors.AddressNotAllowed("This key may not be used from your address.")
        if holder.last_used_at is None or now - holder.last_used_at > timedelta(minutes=1):
            keys.touch(key_id=holder.key_id, now=now)
        caller = ApiCaller(holder)
        return caller, caller

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def _presented_key(request: Request) -> str:
    header = request.META.get("HTTP_AUTHORIZATION")
    if header is None:
        raise errors.NotAuthenticated(f"No API key was sent. {_HOW}", headers=_NO_TOKEN)
    scheme, _, token = str(header).strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise errors.NotAuthenticated(
            f"The Authorization header holds no Bearer token. {_HOW}", headers=_NO_TOKEN
        )
    return token
