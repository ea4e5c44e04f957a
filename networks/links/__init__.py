"""Bank-linking providers: they turn a customer's token into account numbers."""

from __future__ import annotations

from django.conf import settings

from networks.links.base import HostedLinks, LinkProvider
from networks.links.plaid import PlaidLinks
from networks.links.sandbox import SandboxLinks


def for_mode(mode: str) -> LinkProvider | None:
    """The provider for tenants of `mode`; None where no provider is connected."""
    return SandboxLinks() if mode == "sandbox" else hosted(mode)


def hosted(mode: str) -> HostedLinks | None:
    """The provider whose module a page for tenants of `mode` loads; None where there is none."""
    return named(PlaidLinks.name) if mode == "live" else None


def named(name: str) -> HostedLinks | None:
    """The provider that gave us a consent; None while it is not connected."""
    if name != PlaidLinks.name or not settings.PLAID_CLIENT_ID:
        return None
    return PlaidLinks(
        client_id=settings.PLAID_CLIENT_ID,
        secret=settings.PLAID_SECRET,
        environment=settings.PLAID_ENVIRONMENT,
        host=settings.PLAID_HOST,
        script_url=settings.PLAID_LINK_SCRIPT,
    )
