from __future__ import annotations

from django.apps import AppConfig


class BalanceConfig(AppConfig):
    name = "balance"
    verbose_name = "Ledger"

    def ready(self) -> None:
        """Register the audits of adjustments, closed months and the operator's books, and the rows
        that are sealed."""
        from balance import adjustment_rules, causes, closed_months, sealed_rows
        from balance.operator import checks as books
        from common import audits, sealed

        causes.register(adjustment_rules.CAUSE)
        audits.register(adjustment_rules.check)
        audits.register(closed_months.check)
        books.register_source(adjustment_rules.CAUSE.source_type, adjustment_rules.CAUSE.table)
        audits.register(books.check_accounts)
        audits.register_whole(books.check_lines)
        audits.register_whole(books.check_days)
        sealed.register(*sealed_rows.KINDS)
