from __future__ import annotations

from django.apps import AppConfig


class AchConfig(AppConfig):
    name = "networks.ach"
    label = "ach"
    verbose_name = "ACH"

    def ready(self) -> None:
        """Let rails be served by a bank that takes ACH files."""
        from networks import registry
        from networks.ach.network import AchNetwork

        registry.register_driver("ach", AchNetwork)
