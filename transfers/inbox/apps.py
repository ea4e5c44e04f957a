from __future__ import annotations

from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "transfers.inbox"
    label = "network_inbox"
    verbose_name = "Networks"

    def ready(self) -> None:
        """Tell the operator switches which networks there are, join the ledger's audit, and have
        messages sealed."""
        from common import audits, sealed
        from networks import registry
        from tenants import switches
        from transfers.inbox import invariants, sealed_rows

        audits.register(invariants.check)
        sealed.register(*sealed_rows.KINDS)
        switches.know_networks(lambda: [network.name for network in registry.active()])
