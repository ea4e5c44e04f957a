from __future__ import annotations

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        """Register with the ledger's audit, and have events sealed."""
        from common import audits, sealed
        from webhooks import invariants, sealed_rows

        audits.register(invariants.check)
        sealed.register(*sealed_rows.KINDS)
