from __future__ import annotations

from django.apps import AppConfig


class PaymentsConfig(AppConfig):
    name = "payments"
    verbose_name = "Payments"

    def ready(self) -> None:
        """Join the ledger's audit and its news, and the sandbox's due work."""
        from approvals import matters
        from balance import invariants as audit
        from balance import limits
        from balance.signals import available_balance_rose
        from networks.sandbox import due
        from payments import invariants
        from payments.api import presenters
        from payments.services import approvals, sandbox, waiting

        audit.register(invariants.MOVEMENTS.check)
        audit.register(invariants.check_confirmations)
        matters.register(approvals.MATTER)
        available_balance_rose.connect(waiting.wake, dispatch_uid="payments.waiting")
        due.register(sandbox.PART)
        limits.register(presenters.payment_limits)
