"""What payment tests need: money, payments, the sweeps, and short ways to read it all back."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from balance import selectors as ledger
from balance import services
from networks.bank_details import BankDetails
from payments.models import Payment, PaymentEvent, PaymentMethod
from payments.services import orders, waiting
from payments.services.orders import Order
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, Actor
from tenants.models import Tenant
from tests.builders import NOW
from transfers import submission
from transfers.inbox import messages
from webhooks.models import WebhookEvent


def account(account_number: str = "000123456789", **changes: str) -> BankDetails:
    """A recipient's bank account, whose number scripts the sandbox bank."""
    details = BankDetails(
        account_number=account_number,
        routing_number="021000021",
        holder_name="Supplier LLC",
        holder_type="business",
        account_type="checking",
    )
    return cast(BankDetails, {**details, **changes})


def fund(tenant: Tenant, amount: int, *, now: datetime = NOW) -> None:
    """Money from staff: no funding is needed to explain it."""
    services.adjust(
        tenant_id=tenant.pk, type="credit", amount=amount, reason="test", actor=SYSTEM, now=now
    )


def take(tenant: Tenant, amount: int, *, now: datetime = NOW) -> None:
    """What a bank return does to the balance: available falls, below zero if it must."""
    services.adjust(
        tenant_id=tenant.pk, type="debit", amount=amount, reason="test", actor=SYSTEM, now=now
    )


def pay(
    tenant: Tenant,
    amount: int = 10_000,
    *,
    to: str | BankDetails = "000123456789",
    method: str = PaymentMethod.ACH_CREDIT,
    wait: bool = False,
    actor: Actor = SYSTEM,
    now: datetime = NOW,
) -> Payment:
    """A payment order of the tenant. `to` is an account number or all of an account."""
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=Order(
            amount=amount,
            recipient=account(to) if isinstance(to, str) else to,
            method=method,
            wait_for_funds=wait,
        ),
        actor=actor,
        now=now,
    )


def run_due(*, now: datetime = NOW, rounds: int = 4) -> None:
    """Let everything that is due happen, as the sweeps would."""
    for _ in range(rounds):
        waiting.run_due(now=now)
        submission.submit_due(PAYMENTS, now=now)
        messages.process(PAYMENTS, now=now)


def status_of(payment: Payment) -> str:
    return Payment.objects.values_list("status", flat=True).get(pk=payment.pk)


def funds_of(tenant: Tenant) -> tuple[int, int]:
    """(available, locked)."""
    funds = ledger.summary(tenant.pk)
    return funds.available, funds.locked


def postings_of(payment: Payment) -> list[tuple[str, int]]:
    """(type, amount) of everything the payment did to the ledger, in order."""
    rows = ledger.transactions(payment.tenant_id).filter(source_id=payment.pk).order_by("sequence")
    return [(row["type"], row["amount"]) for row in rows]


def history_of(payment: Payment) -> list[str]:
    rows = PaymentEvent.objects.filter(payment=payment).order_by("sequence")
    return list(rows.values_list("to_status", flat=True))


def events_of(payment: Payment) -> list[str]:
    rows = WebhookEvent.objects.filter(payment_id=payment.pk).order_by("sequence")
    return list(rows.values_list("type", flat=True))
