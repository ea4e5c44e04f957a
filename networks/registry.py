"""Which network serves a method for tenants of which mode, and which networks there are.

This separates test money from real money: a route says which rail carries a method for tenants of
a mode, and the database refuses routes that would mix them (`networks.rails`). The code that speaks
to a kind of rail is its driver; apps register theirs when they are ready. Networks that only tests,
simulations and benchmarks know are connected in memory and come first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from networks.base import PaymentNetwork
from networks.rails.known import Known, knowledge


@dataclass(frozen=True)
class _Connection:
    network: PaymentNetwork
    modes: frozenset[str]


# Makes the network of a rail, by the rail's name.
Driver = Callable[[str], PaymentNetwork]

_drivers: dict[str, Driver] = {}
_of_rails: dict[tuple[str, str], PaymentNetwork] = {}  # by name and driver
_connections: dict[str, _Connection] = {}


def register_driver(name: str, driver: Driver) -> None:
    """Let rails of this driver be used. It is asked once for each rail."""
    _drivers[name] = driver


def connect(network: PaymentNetwork, *, modes: Collection[str]) -> Callable[[], None]:
    """Let `network` serve tenants of these modes in this process, before any route; it takes the
    place of another one, or of the rail, of its name.

    Returns a function that undoes it.
    """
    before = dict(_connections)
    _connections[network.name] = _Connection(network, frozenset(modes))

    def undo() -> None:
        _connections.clear()
        _connections.update(before)

    return undo


def look_again() -> None:
    """Read the routes again at the next question: for whoever is about to send something that was
    not claimed with a look at them."""
    knowledge.forget()


def for_method(mode: str, method: str) -> PaymentNetwork | None:
    """The network that moves money by `method` (a network's word) for tenants of `mode`, if any."""
    for each in _connections.values():
        if mode in each.modes and method in each.network.capabilities.methods:
            return each.network
    rail = knowledge.current().routes.get((mode, method))
    return find(rail) if rail else None


def of_mode(mode: str) -> list[PaymentNetwork]:
    """The networks of tenants of `mode`: connected ones, then those that routes lead to."""
    connected = [each.network for each in _connections.values() if mode in each.modes]
    rails = [rail for (of, _), rail in knowledge.current().routes.items() if of == mode]
    return _each_once([*connected, *filter(None, map(find, rails))])


def modes_served_by(names: Collection[str], method: str) -> list[str]:
    """The modes whose tenants use one of these networks for `method`."""
    modes = {mode for each in _connections.values() for mode in each.modes}
    modes |= {mode for mode, _ in knowledge.current().routes}
    served = {mode: for_method(mode, method) for mode in sorted(modes)}
    return [mode for mode, network in served.items() if network and network.name in names]


def find(name: str) -> PaymentNetwork | None:
    """The network of this name, wherever routes lead; None where there is none."""
    connected = _connections.get(name)
    return connected.network if connected else _of_rail(name, knowledge.current())


def get(name: str) -> PaymentNetwork:
    """The network of this name. Raises KeyError if there is none."""
    if (found := find(name)) is None:
        raise KeyError(name)
    return found


def active() -> list[PaymentNetwork]:
    """All networks to poll. A closed route changes nothing about what its rail still reports."""
    rails = filter(None, map(find, knowledge.current().drivers))
    return _each_once([*rails, *(each.network for each in _connections.values())])


def _of_rail(name: str, known: Known) -> PaymentNetwork | None:
    """None where the rail is unknown, or its driver is not part of this installation."""
    driver = known.drivers.get(name)
    if driver is None or driver not in _drivers:
        return None
    if (name, driver) not in _of_rails:
        _of_rails[name, driver] = _drivers[driver](name)
    return _of_rails[name, driver]


def _each_once(networks: Collection[PaymentNetwork]) -> list[PaymentNetwork]:
    return list({network.name: network for network in networks}.values())
