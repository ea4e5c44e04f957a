"""Judges ID tokens (OpenID Connect Core § 3.1.3.7), and reads what they say of a person."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any

import jwt

from tenants.sso import transport
from tenants.sso.connections import OpenIdConnect
from tenants.sso.identity import SKEW_SECONDS, Identity, Refused

# Signatures with keys that only the provider has. `none`, and those made with the client's secret,
# are not among them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")
_REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
_LENGTH_MAX = 16 * 1024
_SUBJECT = re.compile(r"[ -~]{1,255}")  # OpenID Connect Core § 2
_MOMENT_MAX = 2**53  # seconds that a float counts one by one
_MANY_FACTORS = "mfa"  # RFC 8176
_TRUE = (True, "true", "True", "1", 1)


def read(connection: OpenIdConnect, token: object, *, keys_url: str, nonce: str) -> Identity:
    """The person that the token is about. Raises Refused, requests.RequestException."""
    if not isinstance(token, str) or len(token) > _LENGTH_MAX:
        raise Refused("no ID token")
    claims = _verified(connection, token, _key(token, transport.get_object(keys_url)))
    said = _text(claims.get("nonce"))
    if not (said.isascii() and hmac.compare_digest(said, nonce)):
        raise Refused("another nonce")
    audience = claims["aud"]
    several = isinstance(audience, list) and len(audience) > 1
    if (several or "azp" in claims) and claims.get("azp") != connection.client_id:
        raise Refused("issued to another client")
    return _identity(connection, claims)


def _key(token: str, keys: Mapping[str, Any]) -> jwt.PyJWK:
    """The provider's key that the token names. Raises Refused."""
    try:
        header = jwt.get_unverified_header(token)
        known = [one for one in jwt.PyJWKSet.from_dict(dict(keys)).keys if _may_sign(one)]
    except (jwt.PyJWTError, TypeError, ValueError, AttributeError) as error:
        raise Refused(type(error).__name__) from None
    name = header.get("kid")
    found = [one for one in known if name is None or one.key_id == name]
    if len(found) != 1:
        raise Refused("signed with an unknown key")
    return found[0]


def _may_sign(key: jwt.PyJWK) -> bool:
    return key.public_key_use in (None, "sig")


def _verified(connection: OpenIdConnect, token: str, key: jwt.PyJWK) -> Mapping[str, Any]:
    """The claims of a token that this provider signed for us, and that is in force. Raises
    Refused."""
    try:
        claims: Mapping[str, Any] = jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            audience=connection.client_id,
            issuer=connection.issuer,
            leeway=SKEW_SECONDS,
            options={"require": _REQUIRED, "enforce_minimum_key_length": True},
        )
    except jwt.PyJWTError as error:
        raise Refused(type(error).__name__) from None
    return claims


def _identity(connection: OpenIdConnect, claims: Mapping[str, Any]) -> Identity:
    subject = claims["sub"]
    if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject):
        raise Refused("no subject")
    is_verified = claims.get(connection.verified_claim) in _TRUE
    return Identity(
        issuer=connection.issuer,
        subject=subject,
        email=_text(claims.get("email")).lower() if is_verified else "",
        name=_text(claims.get("name")),
        values=frozenset(_texts(claims.get(connection.role_claim))),
        has_factor=_MANY_FACTORS in _texts(claims.get("amr"))
        or _text(claims.get("acr")) in connection.second_factor_acr,
        proven_at=_moment(claims.get("auth_time")),
    )


def _texts(value: object) -> Sequence[str]:
    """The texts of a claim that is one, or a list of them."""
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _moment(value: object) -> float:
    """Seconds since 1970; 0 for what is no such number, as `NaN`, which JSON parsers let pass."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    return float(value) if 0 < value < _MOMENT_MAX else 0.0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
