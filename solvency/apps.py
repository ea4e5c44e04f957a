from __future__ import annotations

from django.apps import AppConfig


class SolvencyConfig(AppConfig):
    name = "solvency"
    verbose_name = "Proof of funds"

    def ready(self) -> None:
        """Join the ledger's audit, and have reports sealed."""
        from common import audits, sealed
        from solvency import invariants, sealed_rows

        audits.register_whole(invariants.check)
        sealed.register(*sealed_rows.KINDS)
