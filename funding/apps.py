from __future__ import annotations

from django.apps import AppConfig


class FundingConfig(AppConfig):
    name = "funding"
    verbose_name = "Funding"

    def ready(self) -> None:
        """Register with the ledger's audit and signals. The imports also register the contexts of
        our e-mails."""
        from approvals import policies
        from balance import causes, limits
        from balance.operator import checks as books
        from balance.signals import available_balance_fell
        from common import audits, sealed
        from funding import invariants, receivers, sealed_rows, selectors
        from funding.api import presenters
        from funding.deposit_transfer import DEPOSIT_ENTRIES
        from funding.models import (
            DEPOSIT_SOURCE_TYPE,
            SOURCE_TYPE,
            DepositEntry,
            FundingTransaction,
        )
        from funding.services import approval_policy, deposits, sandbox
        from funding.transfer import FUNDING
        from solvency import settled
        from tenants.signals import tenant_released
        from transfers import handlers
        from transfers.sandbox import due

        sealed.register(*sealed_rows.KINDS)
        causes.register(invariants.CHECKS.cause)
        settled.register(selectors.settled_by_tenant)
        books.register_source(SOURCE_TYPE, FundingTransaction._meta.db_table)
        books.register_source(DEPOSIT_SOURCE_TYPE, DepositEntry._meta.db_table)
        audits.register(invariants.CHECKS.check)
        audits.register(invariants.check_confirmations)
        audits.register(invariants.check_answers)
        audits.register(invariants.check_messages)
        audits.register(invariants.check_marks)
        audits.register(invariants.check_authorizations)
        audits.register(invariants.check_deposits)
        audits.register(invariants.check_retries)
        audits.register_slices(invariants.CHECKS.slices(invariants.ask_banks))
        audits.register_slices(invariants.ACCOUNTS)
        audits.register_slices(invariants.DEPOSITS)
        handlers.register(FUNDING, DEPOSIT_ENTRIES, deposits.DEPOSITS)
        due.register(sandbox.PART)
        limits.register(presenters.funding_limits)
        policies.register(approval_policy.POLICY)
        available_balance_fell.connect(
            receivers.on_available_balance_fell, dispatch_uid="funding.auto_funding"
        )
        tenant_released.connect(receivers.on_tenant_released, dispatch_uid="funding.auto_funding")
