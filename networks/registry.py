"""Which networks exist, and which one a tenant uses.

The wall between test and real money stands here: a live tenant never gets the sandbox bank, and
a sandbox tenant gets nothing else.
"""

from __future__ import annotations

from collections.abc import Collection
from types import MappingProxyType

from networks.base import PaymentNetwork
from networks.sandbox import bank

_NETWORKS = MappingProxyType[str, PaymentNetwork]({bank.NAME: bank.SandboxBank()})
_BY_MODE = MappingProxyType({"sandbox": bank.NAME})


def for_mode(mode: str) -> PaymentNetwork | None:
    """The network for tenants of `mode`; None where none is connected."""
    name = _BY_MODE.get(mode)
    return _NETWORKS[name] if name else None


def modes_of(names: Collection[str]) -> list[str]:
    """The modes whose tenants use one of these networks."""
    return [mode for mode, name in _BY_MODE.items() if name in names]


def get(name: str) -> PaymentNetwork:
    """The network an instruction went to. Raises KeyError for one that does not exist."""
    return _NETWORKS[name]


def active() -> list[PaymentNetwork]:
    """All networks to poll."""
    return list(_NETWORKS.values())
