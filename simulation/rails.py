"""The rails of the simulation's bank, as the sandbox has them: instant payments go by one of their
own. The bank and its record behind them are one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from networks import registry
from networks.base import NetworkEvent
from networks.sandbox.bank import INSTANT_NAME, NAME
from simulation.bank import Bank, rail_of
from tenants.models import Mode


class Rail:
    """A PaymentNetwork: the bank, as far as the methods of one rail go."""

    def __init__(self, name: str, bank: Bank) -> None:
        self.name = name
        of_all = bank.capabilities.methods
        methods = {method: terms for method, terms in of_all.items() if rail_of(method) == name}
        self.capabilities = replace(bank.capabilities, methods=methods)
        self._bank = bank

    def __getattr__(self, call: str) -> Any:
        return getattr(self._bank, call)

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        return self._bank.poll(now=now, limit=limit, id_prefix=id_prefix, rail=self.name)


@contextmanager
def connected(bank: Bank) -> Iterator[None]:
    """Let both rails lead to `bank` for tenants of the sandbox."""
    with ExitStack() as undone:
        for name in (NAME, INSTANT_NAME):
            rail: Any = Rail(name, bank)
            undone.callback(registry.connect(rail, modes=(Mode.SANDBOX,)))
        yield
