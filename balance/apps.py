from __future__ import annotations

from django.apps import AppConfig


class BalanceConfig(AppConfig):
    name = "balance"
    verbose_name = "Ledger"

    def ready(self) -> None:
        """Register the audits of adjustments and closed months, and the rows that are sealed."""
        from balance import adjustment_rules, causes, closed_months, sealed_rows
        from common import audits, sealed

        causes.register(adjustment_rules.CAUSE)
        audits.register(adjustment_rules.check)
        audits.register(closed_months.check)
        sealed.register(*sealed_rows.KINDS)
