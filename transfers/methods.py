"""The methods of one direction: what tenants and networks call them, and their terms.

A new method needs one entry in the table of an app, and an adapter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from django.db.models import TextChoices

from networks import registry
from networks.base import Carrier, MethodTerms, PaymentNetwork, Speed


def in_sentences(method: TextChoices) -> str:
    """The label of a method within a sentence: `ACH debit`, `instant payment (RTP)`."""
    label = str(method.label)
    return label if label[1].isupper() else label[0].lower() + label[1:]


def _no_limit() -> int | None:
    return None


@dataclass(frozen=True, kw_only=True)
class TransferMethod:
    """How money can be moved. `usual_terms` apply where no network is connected for it.

    `deployment_max` is the operator's limit in cents; None: only the network's. A method that
    `is_standard` is shown to every tenant, any other only to tenants whose networks serve it.
    """

    name: str  # in rows and in the API, at most 9 characters
    network_method: str
    words: str  # for sentences that people read
    usual_terms: MethodTerms
    deployment_max: Callable[[], int | None] = _no_limit
    is_standard: bool = False

    def network(self, mode: str) -> PaymentNetwork | None:
        """The network that serves this method for tenants of `mode`; None if none is connected."""
        return registry.for_method(mode, self.network_method)

    def terms(self, mode: str) -> MethodTerms:
        """The terms on which it is offered to tenants of `mode`."""
        return self._terms_of(self.network(mode))

    def expected_on(self, network: str, now: datetime, *, speed: str, amount: int) -> date:
        """The banking day on which `amount` cents that are handed to this network now, to be sent
        at `speed`, have arrived."""
        return self._terms_of(registry.find(network)).arrival(now, Speed(speed), amount=amount)

    def carrier(self, network: str) -> str | None:
        """The instant network that carries what goes over the rail of this name; None for ACH, and
        for a rail that is connected no more."""
        carrier = self._terms_of(registry.find(network)).carrier
        return carrier and str(carrier)

    def amount_max(self, mode: str, *, own: int | None = None) -> int:
        """The most that a tenant of `mode` can move at once, cents: its own limit or else the
        operator's, and never more than the network takes."""
        bound = self.terms(mode).amount_max
        return min(own or self.deployment_max() or bound, bound)

    def _terms_of(self, network: PaymentNetwork | None) -> MethodTerms:
        known = network.capabilities.methods if network else {}
        return known.get(self.network_method, self.usual_terms)


class Methods(dict[str, TransferMethod]):
    """The table of one direction, by the names that tenants use."""

    def __init__(self, *methods: TransferMethod) -> None:
        super().__init__({method.name: method for method in methods})

    def add(self, method: TransferMethod) -> Callable[[], None]:
        """Add a method whose adapter is not part of this product; it replaces one of the same name.
        Returns a function that undoes it."""
        before = dict(self)
        self[method.name] = method

        def undo() -> None:
            self.clear()
            self.update(before)

        return undo

    def carrier(self, name: str, network: str) -> str | None:
        """`TransferMethod.carrier` of the method of this name, which may be offered no more."""
        method = self.get(name)
        return method.carrier(network) if method else None

    def carrier_words(self, name: str, network: str) -> str:
        """The name of that instant network, for people; an empty string for ACH."""
        carrier = self.carrier(name, network)
        return Carrier(carrier).words if carrier else ""

    def of_mode(self, mode: str) -> list[TransferMethod]:
        """The methods that networks serve for tenants of `mode`."""
        return [method for method in self.values() if method.network(mode)]

    def shown_to(self, mode: str) -> list[TransferMethod]:
        """The methods that tenants of `mode` are shown: the standard ones, and others that a
        network serves."""
        return [method for method in self.values() if method.is_standard or method.network(mode)]
