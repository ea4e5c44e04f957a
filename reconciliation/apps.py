from __future__ import annotations

from django.apps import AppConfig


class ReconciliationConfig(AppConfig):
    name = "reconciliation"
    verbose_name = "Reconciliation"

    def ready(self) -> None:
        """Join the ledger's audit, and have what banks said sealed."""
        from common import audits, sealed
        from reconciliation import invariants, sealed_rows

        audits.register(invariants.check)
        sealed.register(*sealed_rows.KINDS)
