from __future__ import annotations

from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Staff desk"

    def ready(self) -> None:
        """Join the ledger's audit: what people decided about banks is in their audit log."""
        from common import audits
        from desk import invariants

        audits.register(invariants.check)
