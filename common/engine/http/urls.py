"""The rule for URLs that tenants give us (decision 0016).

It is applied when a URL is registered and again at every request, because settings and DNS change.

A URL is refused for its text alone if that is possible. Its addresses are judged by
`Policy.permits`: at registration every address that its name has, at a request the address to
connect to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from django.conf import settings

from common.engine.http import addresses
from common.engine.http.addresses import Address, Network

LENGTH_MAX = 2048
_DEFAULT_PORT = {"https": 443, "http": 80}
_UNPRIVILEGED_PORT = 1024
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
_ENCODED_CONTROL = re.compile(r"%(?:[01][0-9a-f]|7f)", re.IGNORECASE)
# Wildcard DNS services answer 127.0.0.1.nip.io and app-10-0-0-1.sslip.io with that very address.
_SPELLED_ADDRESS = re.compile(r"(?<![0-9])(?:[0-9]{1,3}[.-]){3}[0-9]{1,3}(?![0-9])")
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_HOST_LENGTH_MAX = 253
# Names that never belong to somebody on the public Internet (RFC 6761, 6762, 7686, 8375, 9476, and
# the suffixes that private networks use).
_SPECIAL_USE = {
    "alt", "arpa", "corp", "example", "home", "host", "internal", "intranet", "invalid", "lan",
    "local", "localdomain", "localhost", "onion", "private", "test",
}  # fmt: skip

_A_LABEL = "[0-9A-Za-z_](?:[0-9A-Za-z_-]{0,61}[0-9A-Za-z_])?"
# The text rule below, as far as a regular expression can express it, for the OpenAPI document. It
# refuses no URL that `Policy.check` accepts.
PATTERN = (
    "^(?!.*%(?:[01][0-9A-Fa-f]|7[Ff]))[Hh][Tt][Tt][Pp][Ss]?://"
    rf"(?:\[[0-9A-Fa-f:]+\]|{_A_LABEL}(?:\.{_A_LABEL})*)(?::[0-9]{{1,5}})?"
    r"(?:[/?][!\"$-\[\]-~]*)?$"
)


class UrlRefused(Exception):
    """We do not send to the URL, or to the address behind it. The text says why."""


@dataclass(frozen=True)
class Target:
    """A URL that passed the text rule.

    `authority` and `path` (with the query) are what a request says. `address` is set if the host is
    a literal address. `needs_exception`: it is plain http or a name that is not public, so only an
    address that the operator allowed may be used.
    """

    scheme: str
    authority: str
    path: str
    host: str
    port: int
    address: Address | None
    needs_exception: bool


@dataclass(frozen=True)
class Policy:
    """Where requests may go: the public Internet over TLS, and what the operator allows.

    `allowed_networks` are the operator's exceptions to the address rule. Plain http goes only
    there, never over the Internet. Loopback is for receivers on a developer's own machine; the
    ports of system services and our own port stay closed.
    """

    allowed_networks: tuple[Network, ...] = ()
    own_host: str = ""
    own_port: int = 0

    def permits(self, address: Address, port: int, *, exception_only: bool = False) -> bool:
        """Whether a connection to this address and port may be made.

        `exception_only`: a public address is not enough; the operator must have allowed it.
        """
        if addresses.is_within(address, self.allowed_networks):
            if addresses.is_loopback(address):
                return port >= _UNPRIVILEGED_PORT and port != self.own_port
            return True
        return addresses.is_public(address) and not exception_only

    def check(self, url: str, *, allow_http: bool) -> Target:
        """The target of `url`. Raises UrlRefused. Resolves no names."""
        target = _target(url, allow_http=allow_http)
        if (target.host, target.port) == (self.own_host, self.own_port):
            raise UrlRefused("The URL is our own address.")
        if target.needs_exception and not self.allowed_networks:
            raise UrlRefused("The URL must use https and a public host name.")
        if target.address is not None:
            self.check_addresses(target, [target.address])
        return target

    def check_addresses(self, target: Target, found: Sequence[Address]) -> None:
        """Raises UrlRefused unless a connection to every address in `found` may be made.

        A public name without addresses passes: it may appear in DNS later, and every request checks
        again. A name that needs an exception must have addresses that show that it is one.
        """
        if target.needs_exception and not found:
            raise UrlRefused("The URL must use https and a public host name.")
        for address in found:
            if not self.permits(address, target.port, exception_only=target.needs_exception):
                if target.scheme == "http" and addresses.is_public(address):
                    raise UrlRefused("The URL must use https: its address is public.")
                raise UrlRefused("The URL leads to an address that is not public.")


def policy() -> Policy:
    """The policy of this deployment."""
    return _policy(tuple(settings.WEBHOOK_ALLOWED_NETWORKS), settings.BASE_URL)


@lru_cache(maxsize=8)
def _policy(networks: tuple[str, ...], base_url: str) -> Policy:
    own = urlsplit(base_url)
    return Policy(
        allowed_networks=addresses.parse_networks(networks),
        own_host=own.hostname or "",
        own_port=own.port or _DEFAULT_PORT.get(own.scheme, 0),
    )


@lru_cache(maxsize=1024)
def _target(url: str, *, allow_http: bool) -> Target:
    if len(url) > LENGTH_MAX:
        raise UrlRefused(f"The URL is longer than {LENGTH_MAX} characters.")
    if not _VISIBLE_ASCII.fullmatch(url) or "\\" in url:
        raise UrlRefused("The URL may hold only visible ASCII; write a name in Punycode.")
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if scheme not in _DEFAULT_PORT or not rest:
        raise UrlRefused("The URL must start with https://.")
    if scheme == "http" and not allow_http:
        raise UrlRefused("The URL must use https.")
    if "#" in rest:
        raise UrlRefused("The URL may not have a fragment.")
    if _ENCODED_CONTROL.search(rest):
        raise UrlRefused("The URL may not hold encoded control characters.")
    authority = re.split(r"[/?]", rest, maxsplit=1)[0]
    host, port = _host_and_port(authority, _DEFAULT_PORT[scheme])
    _check_port(scheme, port)
    address = _literal(host)
    path = rest[len(authority) :]
    return Target(
        scheme=scheme,
        authority=host if port == _DEFAULT_PORT[scheme] else f"{host}:{port}",
        path=path if path.startswith("/") else "/" + path,
        host=host.strip("[]"),
        port=port,
        address=address,
        needs_exception=scheme == "http" or (address is None and not _is_public_name(host)),
    )


def _host_and_port(authority: str, default_port: int) -> tuple[str, int]:
    if "@" in authority:
        raise UrlRefused("The URL may not hold a user name or password.")
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{1,5}))?", authority)
    if match is None or not match[1].strip("[]"):
        raise UrlRefused("The URL has no valid host and port.")
    return match[1].lower(), int(match[2]) if match[2] else default_port


def _check_port(scheme: str, port: int) -> None:
    if port != _DEFAULT_PORT[scheme] and not _UNPRIVILEGED_PORT <= port <= 65_535:
        raise UrlRefused(f"The port must be {_DEFAULT_PORT[scheme]} or 1024 and above.")


def _literal(host: str) -> Address | None:
    """The address that `host` spells, in one spelling per address; None for a well-formed name."""
    if host.startswith("["):
        address = addresses.parse(host.strip("[]"))
        if not isinstance(address, IPv6Address) or host != f"[{address}]" or "%" in host:
            raise UrlRefused("The host is not an IPv6 address in its shortest form.")
        if addresses.unwrap(address) is not address:
            raise UrlRefused("Write an IPv4 address as four decimal numbers.")
        return address
    if _ends_in_a_number(host):
        address = addresses.parse(host)
        if address is None:
            raise UrlRefused("Write an IPv4 address as four decimal numbers.")
        return address
    labels = host.split(".")
    if len(host) > _HOST_LENGTH_MAX or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlRefused("The host is not a valid name.")
    return None


def _ends_in_a_number(host: str) -> bool:
    """Whether URL parsers would read `host` as an IPv4 address (the URL standard's own words)."""
    last = host.rstrip(".").rpartition(".")[2]
    return re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last) is not None


def _is_public_name(host: str) -> bool:
    labels = host.split(".")
    if len(labels) < 2 or labels[-1] in _SPECIAL_USE:
        return False
    spelled = (addresses.parse(text.replace("-", ".")) for text in _SPELLED_ADDRESS.findall(host))
    return all(address is None or addresses.is_public(address) for address in spelled)
