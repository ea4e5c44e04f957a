"""django-allauth's OpenID Connect provider, made from a connection and with less leeway.

allauth takes the issuer that the provider names and, from the token endpoint, whatever ID token
comes. Here the issuer is the connection's own, every endpoint is on a host that operators named,
and `id_tokens` judges the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.core.cache import cache
from django.http import HttpRequest

from tenants.sso import addresses, exchanges, transport
from tenants.sso.connections import OpenIdConnect

_DISCOVERY = "/.well-known/openid-configuration"
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_KNOWN_SECONDS = 300


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # no types
    """What django-allauth asks us for."""

    def get_requests_session(self) -> transport.Session:
        return transport.Session()


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """How to reach the provider of one connection."""

    def __init__(self, request: HttpRequest, connection: OpenIdConnect) -> None:
        super().__init__(request, connection.id)
        self._connection = connection

    def get_provider(self) -> Provider:
        return Provider(self.request, self._connection)

    @property
    def openid_config(self) -> Mapping[str, Any]:
        return metadata(self._connection)

    def get_access_token_data(self, *args: Any, **values: Any) -> Mapping[str, Any]:
        """What the token endpoint answers. Raises requests.RequestException, OAuth2Error."""
        try:
            found = super().get_access_token_data(*args, **values)
        except RecursionError:
            raise transport.ProviderAway("answered no JSON") from None
        if not isinstance(found, dict):
            raise transport.ProviderAway("answered no JSON object")
        return found

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return addresses.callback(self._connection)


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """Of one connection. What a browser is sent away with stays in its session."""

    pkce_enabled_default = True

    def __init__(self, request: HttpRequest, connection: OpenIdConnect) -> None:
        self.connection = connection
        super().__init__(
            request,
            SocialApp(
                provider=self.id,
                provider_id=connection.id,
                name=connection.name,
                client_id=connection.client_id,
                secret=connection.client_secret,
                settings={"server_url": connection.issuer},
            ),
        )

    def get_oauth2_adapter(self, request: HttpRequest) -> Adapter:
        return Adapter(request, self.connection)

    def stash_redirect_state(
        self,
        request: HttpRequest,
        process: str,
        next_url: str | None = None,
        data: exchanges.Asked | None = None,
        state_id: str | None = None,
        **values: Any,
    ) -> str:
        return exchanges.begin(
            request.session,
            self.connection,
            asked=data or exchanges.Asked(),
            verifier=values["pkce_code_verifier"],
        )


def metadata(connection: OpenIdConnect) -> Mapping[str, Any]:
    """What the provider says of itself, at most five minutes old. Raises
    requests.RequestException."""
    key = f"sso:{connection.id}:{connection.issuer}"
    known: Mapping[str, Any] | None = cache.get(key)
    if known is None:
        known = transport.get_object(connection.issuer.rstrip("/") + _DISCOVERY)
        cache.set(key, _checked(connection, known), timeout=_KNOWN_SECONDS)
    return _checked(connection, known)  # the cache names no other hosts either


def _checked(connection: OpenIdConnect, found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises ProviderAway for another issuer, or an endpoint on a host that nobody named."""
    if found.get("issuer") != connection.issuer:
        raise transport.ProviderAway("names another issuer")
    for name in _ENDPOINTS:
        if not transport.is_of(connection, found.get(name)):
            raise transport.ProviderAway(f"has its {name} on a host that is not in the connection")
    return found
