"""Where a request comes from."""

from __future__ import annotations

import ipaddress

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request


def client_address(request: HttpRequest | Request) -> str:
    """The caller's address. X-Forwarded-For counts only as far as our own proxies wrote it."""
    hops = settings.TRUSTED_PROXY_COUNT
    forwarded = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if hops and len(forwarded) >= hops:
        return str(forwarded[-hops])
    return str(request.META.get("REMOTE_ADDR", ""))


def came_in_the_clear(request: HttpRequest) -> bool:
    """Whether the caller spoke plain http with the first of our proxies, or no proxy says that it
    was https. Never where nobody can say: without a proxy, or on a developer's machine."""
    if settings.SECURE_PROXY_SSL_HEADER is None:
        return False
    name, https = settings.SECURE_PROXY_SSL_HEADER
    said = [part.strip() for part in str(request.META.get(name, "")).split(",")]
    return said[-min(settings.TRUSTED_PROXY_COUNT, len(said))] != https


def is_within(address: str, networks: tuple[str, ...]) -> bool:
    """Whether the address lies in one of the networks; an unreadable one never does."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    return any(found in ipaddress.ip_network(network) for network in networks)
