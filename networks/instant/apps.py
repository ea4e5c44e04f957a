from __future__ import annotations

from django.apps import AppConfig


class InstantConfig(AppConfig):
    name = "networks.instant"
    label = "instant"
    verbose_name = "Instant rails"

    def ready(self) -> None:
        """Have the rows of instant rails sealed."""
        from common import sealed
        from networks.instant import sealed_rows

        sealed.register(*sealed_rows.KINDS)
