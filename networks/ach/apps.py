from __future__ import annotations

from django.apps import AppConfig


class AchConfig(AppConfig):
    name = "networks.ach"
    label = "ach"
    verbose_name = "ACH"

    def ready(self) -> None:
        """Let rails be served by a bank that takes ACH files, and join the ledger's audit."""
        from common import audits
        from networks import registry
        from networks.ach import file_invariants, invariants
        from networks.ach.network import AchNetwork

        audits.register(invariants.check)
        audits.register(file_invariants.check)
        registry.register_driver("ach", AchNetwork)
