"""The methods of one direction: what tenants call them, what networks call them, on what terms.

One entry in the table of an app is all that a new method needs here, besides its adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from networks import registry
from networks.base import MethodTerms, PaymentNetwork


def _no_limit() -> int | None:
    return None


@dataclass(frozen=True, kw_only=True)
class TransferMethod:
    """How money can be moved. `usual_terms` hold where no network is connected for it.

    `deployment_max` is the operator's limit, cents; None: the network's alone. A method is shown
    to every tenant if it `is_standard`, to those whose networks serve it otherwise.
    """

    name: str  # in rows and in the API, at most 9 characters
    network_method: str
    words: str  # for sentences that people read
    usual_terms: MethodTerms
    deployment_max: Callable[[], int | None] = _no_limit
    is_standard: bool = False

    def network(self, mode: str) -> PaymentNetwork | None:
        """The network that serves it for tenants of `mode`; None where none is connected."""
        return registry.for_method(mode, self.network_method)

    def terms(self, mode: str) -> MethodTerms:
        """On which it is offered to tenants of `mode`."""
        return self._terms_of(self.network(mode))

    def expected_on(self, network: str, now: datetime) -> date:
        """The banking day on which what is handed to the network of this name now has arrived."""
        connected = {each.name: each for each in registry.active()}
        return self._terms_of(connected.get(network)).expected_on(now)

    def amount_max(self, mode: str, *, own: int | None = None) -> int:
        """The most that a tenant of `mode` can move at once, cents: its own limit or else the
        operator's, and never more than the network that serves it takes."""
        bound = self.terms(mode).amount_max
        return min(own or self.deployment_max() or bound, bound)

    def _terms_of(self, network: PaymentNetwork | None) -> MethodTerms:
        known = network.capabilities.methods if network else {}
        return known.get(self.network_method, self.usual_terms)


class Methods(Mapping[str, TransferMethod]):
    """The table of one direction, by the names that tenants use."""

    def __init__(self, *methods: TransferMethod) -> None:
        self._by_name = {method.name: method for method in methods}

    def __getitem__(self, name: str) -> TransferMethod:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def add(self, method: TransferMethod) -> Callable[[], None]:
        """Offer one more, over an adapter that is not part of this product, in place of another one
        of its name. Returns what undoes it."""
        before = dict(self._by_name)
        self._by_name[method.name] = method

        def undo() -> None:
            self._by_name.clear()
            self._by_name.update(before)

        return undo

    def of_mode(self, mode: str) -> list[TransferMethod]:
        """What networks serve for tenants of `mode`."""
        return [method for method in self.values() if method.network(mode)]

    def shown_to(self, mode: str) -> list[TransferMethod]:
        """What tenants of `mode` are told about: the standard ones, and what is served besides."""
        return [method for method in self.values() if method.is_standard or method.network(mode)]
