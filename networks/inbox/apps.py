from __future__ import annotations

from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "networks.inbox"
    label = "network_inbox"
    verbose_name = "Networks"

    def ready(self) -> None:
        """Tell the operator switches which networks there are."""
        from networks import registry
        from tenants import switches

        switches.know_networks(network.name for network in registry.active())
