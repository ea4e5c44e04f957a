from __future__ import annotations

from django.apps import AppConfig


class ReconciliationConfig(AppConfig):
    name = "reconciliation"
    verbose_name = "Reconciliation"

    def ready(self) -> None:
        """Join the ledger's audit, and have what banks said sealed."""
        from balance.operator import checks as books
        from common import audits, sealed
        from reconciliation import (
            booking,
            clearing,
            day_rules,
            invariants,
            match_rules,
            sealed_rows,
            suspense_rules,
        )
        from reconciliation.models import BookedLine, Clearing

        books.register_source(booking.SOURCE_TYPE, BookedLine._meta.db_table, has_tenant=False)
        books.register_source(clearing.SOURCE_TYPE, Clearing._meta.db_table, has_tenant=False)
        audits.register(invariants.check)
        audits.register(match_rules.check)
        audits.register_whole(suspense_rules.check)
        audits.register_whole(day_rules.check)
        sealed.register(*sealed_rows.KINDS)
