from __future__ import annotations

from django.apps import AppConfig


class SealsConfig(AppConfig):
    name = "seals"
    verbose_name = "Seals"

    def ready(self) -> None:
        """Register the seal's checks with the ledger's audit."""
        from common import audits
        from seals import ahead, checks

        audits.register_whole(checks.check)
        audits.register_whole(ahead.check)
