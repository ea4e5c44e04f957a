from __future__ import annotations

from django.apps import AppConfig


class BalanceConfig(AppConfig):
    name = "balance"
    verbose_name = "Ledger"

    def ready(self) -> None:
        """Register the audit of adjustments, and the rows that are sealed."""
        from balance import adjustment_rules, causes, sealed_rows
        from common import audits, sealed

        causes.register(adjustment_rules.CAUSE)
        audits.register(adjustment_rules.check)
        sealed.register(*sealed_rows.KINDS)
