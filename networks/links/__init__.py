"""Bank-linking providers: they turn a customer's token into account numbers."""

from __future__ import annotations

from networks.links.base import LinkProvider
from networks.links.sandbox import SandboxLinks


def for_mode(mode: str) -> LinkProvider | None:
    """The provider for tenants of `mode`; None where no provider is connected."""
    return SandboxLinks() if mode == "sandbox" else None
