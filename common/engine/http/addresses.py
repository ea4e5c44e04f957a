"""The address rule: only public unicast addresses, unless the operator named an exception.

`ipaddress.is_private` and `is_global` of Python 3.11 both let through what they should not (shared
address space, NAT64, 6to4, multicast), so the ranges are listed here. IPv4 refuses the IANA
special-purpose registry; IPv6 accepts only global unicast without the special-purpose parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_REFUSED_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared address space; also a cloud's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's host services on a public address
        "169.254.0.0/16",  # link-local; metadata services
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocols; also a cloud's metadata service
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_UNICAST_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocols, Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: wraps any IPv4 address
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks of a setting. Raises ValueError."""
    return tuple(ip_network(text) for text in texts)


def unwrap(address: Address) -> Address:
    """The IPv4 address inside an IPv4-mapped IPv6 one, which is the one that the kernel would
    connect to."""
    return getattr(address, "ipv4_mapped", None) or address


def is_public(address: Address) -> bool:
    """Whether `address` is one host of the public Internet."""
    address = unwrap(address)
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    if address.scope_id is not None or address not in _GLOBAL_UNICAST_V6:
        return False
    return not any(address in network for network in _REFUSED_V6)


def is_within(address: Address, networks: Iterable[Network]) -> bool:
    """Whether `address` is in one of `networks`, the operator's exceptions."""
    address = unwrap(address)
    return any(address in network for network in networks)


def is_loopback(address: Address) -> bool:
    """Whether `address` is this machine itself."""
    return unwrap(address).is_loopback


def parse(text: str) -> Address | None:
    """The address that `text` spells; None for a name."""
    try:
        return ip_address(text)
    except ValueError:
        return None
