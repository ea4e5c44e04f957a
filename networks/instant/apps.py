from __future__ import annotations

from django.apps import AppConfig


class InstantConfig(AppConfig):
    name = "networks.instant"
    label = "instant"
    verbose_name = "Instant rails"

    def ready(self) -> None:
        """Let rails be served by the operator of an instant network, join the ledger's audit, and
        have its rows sealed."""
        from common import audits, sealed
        from networks import registry
        from networks.instant import invariants, participants, position_invariants, sealed_rows
        from networks.instant.network import InstantNetwork

        audits.register(invariants.check)
        audits.register_whole(participants.check)
        audits.register_whole(position_invariants.check)
        sealed.register(*sealed_rows.KINDS)
        registry.register_driver("instant", InstantNetwork)
