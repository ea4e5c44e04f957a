from __future__ import annotations

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    name = "payments"
    verbose_name = "Payments"

    def ready(self) -> None:
        """Register with the ledger's audit and signals, and with the sandbox's due work."""
        from approvals import policies
        from balance import causes, limits
        from balance.operator import checks as books
        from balance.signals import available_balance_rose
        from common import audits, sealed
        from payments import invariants, sealed_rows
        from payments.api import presenters
        from payments.models import SOURCE_TYPE, Payment
        from payments.services import approval_policy, left_owners, left_payments, sandbox, waiting
        from payments.transfer import PAYMENTS
        from tenants.signals import key_revoked, member_left
        from transfers import handlers
        from transfers.sandbox import due

        sealed.register(*sealed_rows.KINDS)
        causes.register(invariants.CHECKS.cause)
        books.register_source(SOURCE_TYPE, Payment._meta.db_table)
        audits.register(invariants.CHECKS.check)
        audits.register(invariants.check_confirmations)
        audits.register(invariants.check_totals)
        audits.register(invariants.check_answers)
        audits.register(invariants.check_messages)
        audits.register_slices(invariants.CHECKS.slices(invariants.ask_banks))
        audits.register_slices(invariants.ACCOUNTS)
        policies.register(approval_policy.POLICY)
        available_balance_rose.connect(waiting.wake, dispatch_uid="payments.waiting")
        member_left.connect(left_owners.withdraw_rules, dispatch_uid="payments.left_owners")
        member_left.connect(left_payments.settle, dispatch_uid="payments.left_payments")
        key_revoked.connect(left_payments.settle_key, dispatch_uid="payments.revoked_keys")
        handlers.register(PAYMENTS)
        due.register(sandbox.PART)
        limits.register(presenters.payment_limits)
