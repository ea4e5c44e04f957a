from __future__ import annotations

from django.apps import AppConfig


class AchConfig(AppConfig):
    name = "networks.ach"
    label = "ach"
    verbose_name = "ACH"

    def ready(self) -> None:
        """Let rails be served by a bank that takes ACH files, join the ledger's audit, and have its
        rows sealed."""
        from common import audits, sealed
        from networks import registry
        from networks.ach import file_invariants, invariants, sealed_rows
        from networks.ach.network import AchNetwork

        audits.register(invariants.check)
        audits.register(file_invariants.check)
        sealed.register(*sealed_rows.KINDS)
        registry.register_driver("ach", AchNetwork)
