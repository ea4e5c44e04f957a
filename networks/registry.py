"""Which networks are connected for tenants of which mode, and which of them serves a method.

This separates test money from real money: a network is connected for a mode, and tenants of the
other mode never get it. Several may serve one mode; a method goes to the one that was connected
first of those that have it. Adapters connect themselves when their app is ready.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from networks.base import PaymentNetwork


@dataclass(frozen=True)
class _Connection:
    network: PaymentNetwork
    modes: frozenset[str]


_connections: dict[str, _Connection] = {}


def connect(network: PaymentNetwork, *, modes: Collection[str]) -> Callable[[], None]:
    """Let `network` serve tenants of these modes; it replaces one of the same name.

    Returns a function that undoes it.
    """
    before = dict(_connections)
    _connections[network.name] = _Connection(network, frozenset(modes))

    def undo() -> None:
        _connections.clear()
        _connections.update(before)

    return undo


def for_method(mode: str, method: str) -> PaymentNetwork | None:
    """The network that moves money by `method` (a network's word) for tenants of `mode`, if any."""
    for each in _connections.values():
        if mode in each.modes and method in each.network.capabilities.methods:
            return each.network
    return None


def of_mode(mode: str) -> list[PaymentNetwork]:
    """The networks of tenants of `mode`, in the order in which they were connected."""
    return [each.network for each in _connections.values() if mode in each.modes]


def modes_served_by(names: Collection[str], method: str) -> list[str]:
    """The modes whose tenants use one of these networks for `method`."""
    modes = {mode for each in _connections.values() for mode in each.modes}
    served = {mode: for_method(mode, method) for mode in sorted(modes)}
    return [mode for mode, network in served.items() if network and network.name in names]


def find(name: str) -> PaymentNetwork | None:
    """The network of this name; None where none is connected."""
    found = _connections.get(name)
    return found.network if found else None


def get(name: str) -> PaymentNetwork:
    """The network of this name. Raises KeyError if it is not connected."""
    return _connections[name].network


def active() -> list[PaymentNetwork]:
    """All networks to poll."""
    return [each.network for each in _connections.values()]
