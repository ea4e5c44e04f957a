"""Whose people sign in at which provider: one connection per tenant and provider, and one for our
staff. Operators write them into the file that SINGLE_SIGN_ON_FILE names; what is malformed or
unsafe there stops the process at its start."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.conf import settings

# What a provider may make somebody in a tenant: an owner is named by owners alone.
TENANT_ROLES = ("member", "approver", "viewer")
STAFF = "staff"
_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_HOST = re.compile(r"[a-z0-9.-]{1,253}(?::[0-9]{1,5})?")
_PLAIN_ADDRESS = re.compile(r"[^\s<>\"'#]+")
_RSA_BITS_MIN = 2048
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
# Where anybody gets an address: a domain of these belongs to no tenant.
_PUBLIC_MAIL = frozenset(
    {"aol.com", "gmail.com", "gmx.de", "gmx.net", "googlemail.com", "hotmail.com", "icloud.com",
     "live.com", "mail.com", "me.com", "msn.com", "outlook.com", "proton.me", "protonmail.com",
     "yahoo.com", "ymail.com", "zoho.com"}
)  # fmt: skip


class Malformed(ValueError):
    """The text is no list of connections; the message says what to change."""


@dataclass(frozen=True, kw_only=True)
class Connection:
    """`tenant` is the id of the tenant whose people sign in here, or `staff`.

    `domains` belong to this connection alone: it speaks for nobody with another address. `roles`
    say by the value of `role_claim` what somebody may do. With `required` people of its domains
    reach the tenant, or the desk, in no other way.
    """

    id: str
    name: str
    tenant: str
    issuer: str
    domains: tuple[str, ...]
    role_claim: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    second_factor_acr: tuple[str, ...] = ()
    required: bool = False
    enabled: bool = True

    @property
    def is_of_staff(self) -> bool:
        return self.tenant == STAFF

    def speaks_for(self, email: str) -> bool:
        """Whether the address is in one of its domains."""
        return email.lower().rpartition("@")[2] in self.domains

    @property
    def secured_address(self) -> str:
        """Where browsers are sent, or what leads there: https outside development."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class OpenIdConnect(Connection):
    """`hosts` are the provider's, besides that of `issuer`."""

    client_id: str
    client_secret: str = field(repr=False)
    hosts: tuple[str, ...] = ()
    verified_claim: str = "email_verified"

    @property
    def secured_address(self) -> str:
        return self.issuer


@dataclass(frozen=True, kw_only=True)
class Saml(Connection):
    """SAML 2.0, with the packages of `requirements-saml.txt`. `issuer` is the provider's entity id,
    `role_claim` names an attribute, `second_factor_acr` are classes of authentication contexts.

    `certificates`, as PEM, have the keys that the provider may sign with. The address is the value
    of `email_attribute`, or the name id where that is empty.
    """

    sso_url: str
    certificates: tuple[str, ...] = field(repr=False)
    email_attribute: str = ""

    @property
    def secured_address(self) -> str:
        return self.sso_url


_KINDS: Mapping[str, type[Connection]] = {"oidc": OpenIdConnect, "saml": Saml}


def connected() -> tuple[Connection, ...]:
    """Those that are enabled."""
    return tuple(one for one in settings.SINGLE_SIGN_ON if one.enabled)


def by_id(connection_id: str) -> Connection | None:
    """The enabled connection with this id."""
    return next((one for one in connected() if one.id == connection_id), None)


def for_address(email: str) -> Connection | None:
    """The enabled connection of the address's domain."""
    return next((one for one in connected() if one.speaks_for(email)), None)


def of_staff() -> Connection | None:
    """The enabled connection of our staff."""
    return next((one for one in connected() if one.is_of_staff), None)


def parse(text: str) -> tuple[Connection, ...]:
    """The connections of a JSON array. Raises Malformed."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Malformed(f"it is no JSON: {error}") from None
    if not isinstance(found, list):
        raise Malformed("it must be an array of connections")
    connections = tuple(_connection(entry) for entry in found)
    _require_one_each("id", (one.id for one in connections))
    _require_one_each("domain", (name for one in connections for name in one.domains))
    if sum(one.is_of_staff for one in connections) > 1:
        raise Malformed("staff have one connection")
    return connections


def _connection(entry: Any) -> Connection:
    """One connection of the array. Raises Malformed."""
    if not isinstance(entry, dict):
        raise Malformed("each connection is an object")
    name = str(entry.get("id", "without an id"))
    kind = _kind(name, entry.get("kind", "oidc"))
    entry = {key: value for key, value in entry.items() if key != "kind"}
    known = {one.name: one for one in fields(kind)}
    if extra := entry.keys() - known.keys():
        raise Malformed(
            f"{name} has {', '.join(sorted(extra))}, which is nothing of a connection of its kind"
        )
    needed = {
        key
        for key, one in known.items()
        if one.default is MISSING and one.default_factory is MISSING
    }
    if missing := needed - entry.keys():
        raise Malformed(f"{name} lacks {', '.join(sorted(missing))}")
    values = {key: _value(name, key, value) for key, value in entry.items()}
    connection = kind(**values)
    for complaint in _complaints(connection):
        raise Malformed(f"{name}: {complaint}")
    return connection


def _kind(connection: str, said: Any) -> type[Connection]:
    """Raises Malformed."""
    found = _KINDS.get(said) if isinstance(said, str) else None
    if found is None:
        raise Malformed(f"{connection}: kind must be one of {', '.join(_KINDS)}")
    return found


def _value(connection: str, key: str, value: Any) -> Any:
    """A value of the kind that this key has. Raises Malformed."""
    if key in ("required", "enabled"):
        is_right, kind = isinstance(value, bool), "true or false"
    elif key in ("domains", "hosts", "second_factor_acr", "certificates"):
        is_right = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
        kind = "an array of texts"
    elif key == "roles":
        is_right = isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
        kind = "an object of texts"
    else:
        is_right, kind = isinstance(value, str) and bool(value.strip()), "a text"
    if not is_right:
        raise Malformed(f"{connection}: {key} must be {kind}")
    return tuple(value) if isinstance(value, list) else value


def _complaints(one: Connection) -> Iterator[str]:
    """What is wrong with the values of a connection."""
    if not _ID.fullmatch(one.id):
        yield "id is 1 to 40 small letters, digits and hyphens"
    if not (one.is_of_staff or one.tenant.startswith("ten_")):
        yield "tenant is the id of a tenant, or staff"
    if isinstance(one, OpenIdConnect):
        yield from _complaints_of_issuer(one.issuer)
        if not all(_HOST.fullmatch(host) for host in one.hosts):
            yield "hosts are names such as keys.provider.example"
    if isinstance(one, Saml):
        yield from _complaints_of_saml(one)
    yield from _complaints_of_domains(one.domains)
    if bool(one.roles) != bool(one.role_claim):
        yield "role_claim and roles go together"
    if not one.is_of_staff and (unknown := set(one.roles.values()) - set(TENANT_ROLES)):
        yield f"roles has {', '.join(sorted(unknown))}: give {', '.join(TENANT_ROLES)}"


def _complaints_of_issuer(address: str) -> Iterator[str]:
    issuer = urlsplit(address)
    if not _is_secured(address):
        yield "issuer must be an https:// address"
    if issuer.query or issuer.fragment or issuer.username:
        yield "issuer has no query, fragment or user name"


def _complaints_of_saml(one: Saml) -> Iterator[str]:
    if not _is_secured(one.sso_url):
        yield "sso_url must be an https:// address"
    if not _PLAIN_ADDRESS.fullmatch(one.sso_url):
        yield "sso_url has no fragment, quotes or spaces"
    if not one.certificates:
        yield "certificates must have at least one"
    for number, text in enumerate(one.certificates, 1):
        if not _is_strong_certificate(text):
            yield (
                f"certificate {number} must be PEM, with an RSA key of {_RSA_BITS_MIN} bits or"
                " more, or an EC key"
            )


def _is_secured(address: str) -> bool:
    """Whether it is an https:// address, or one of this machine."""
    parts = urlsplit(address)
    is_here = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return bool(parts.hostname) and (parts.scheme == "https" or is_here)


def _is_strong_certificate(text: str) -> bool:
    try:
        key = x509.load_pem_x509_certificate(text.encode()).public_key()
    except ValueError:
        return False
    if isinstance(key, rsa.RSAPublicKey):
        return key.key_size >= _RSA_BITS_MIN
    return isinstance(key, ec.EllipticCurvePublicKey)


def _complaints_of_domains(domains: Sequence[str]) -> Iterator[str]:
    if not domains:
        yield "domains must name at least one domain"
    for domain in domains:
        if not _DOMAIN.fullmatch(domain):
            yield f"{domain!r} is no domain in small letters"
        if domain in _PUBLIC_MAIL:
            yield f"anybody gets an address in {domain}"


def _require_one_each(what: str, values: Iterator[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise Malformed(f"two connections have the {what} {value}")
        seen.add(value)
