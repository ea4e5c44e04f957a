"""Thirty days in the life of the demo tenant, lived through the product's own services.

Every row is what the product writes when that day comes: only the clock is turned back.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import cycle

from balance import invariants
from demo.tenant.webhooks import Receiver
from funding.models import FundingMethod, FundingSource
from funding.services import auto_funding_config, drafts, linking, topups
from funding.services.lifecycle import TopUp
from networks.bank_details import BankDetails
from payments.models import Recipient
from payments.services import orders, recipients
from payments.services.orders import Order
from tenants.actors import SYSTEM
from tenants.models import Tenant
from transfers.sandbox import due

DAYS = 30
OPENING = 900_000
LARGE = 750_000
_HOUR_OF_BUSINESS = 15
_DAYS_OF_WEBHOOKS = 5  # longer than the tries of a delivery that fails for ever
_RECEIVER_TAKES = timedelta(minutes=2)
_BANK_TAKES = (timedelta(0), timedelta(minutes=1))

# Routing number, account number (what the sandbox bank does with it), name.
_PAYEES = (
    ("121000248", "7734001", "Blue Ridge Roasters"),
    ("021000021", "7734002", "Harbor Freight Lines"),
    ("071000013", "7734003", "Cedar Street Studio"),
)
_CLOSED_PAYEE = ("026009593", "20002", "Old Mill Supplies")
_BILLS = (48_250, 112_900, 31_475, 86_000, 64_320, 20_899, 154_075)


def live(*, tenant: Tenant, approver: str, now: datetime) -> None:
    """Link an account, set up auto-funding, pay bills for 30 days, and leave some work open."""
    opening = _mornings(now)[0]
    source = _link(tenant, "northwind-checking", opening)
    _top_up(tenant, source, OPENING, "Opening balance", opening)
    _bank_works(tenant, opening)
    _fund_automatically(tenant, source, approver, opening)
    receiver = _pay_bills(tenant, now)
    _mishaps(tenant, now)
    receiver.close(now=now)
    _top_up(tenant, source, LARGE, "Season stock", now)
    _top_up(tenant, source, 120_000, "Week 47", now)
    invariants.check(now=now)


def _pay_bills(tenant: Tenant, now: datetime) -> Receiver:
    """Pay one bill each morning. Returns the receiver that webhooks told of the last days."""
    mornings = _mornings(now)
    payees = [_payee(tenant, payee, mornings[0]) for payee in _PAYEES]
    bills = list(zip(mornings, cycle(payees), cycle(_BILLS), strict=False))
    for bill in bills[:-_DAYS_OF_WEBHOOKS]:
        _pay_bill(tenant, *bill)
    told = bills[-_DAYS_OF_WEBHOOKS:]
    receiver = Receiver(tenant, now=told[0][0])
    for bill in told:
        _pay_bill(tenant, *bill)
        receiver.take(now=bill[0] + _RECEIVER_TAKES)
    return receiver


def _pay_bill(tenant: Tenant, morning: datetime, payee: Recipient, amount: int) -> None:
    _pay(tenant, payee, amount, morning)
    _bank_works(tenant, morning)


def _mornings(now: datetime) -> list[datetime]:
    days = [now - timedelta(days=ago) for ago in range(DAYS, 0, -1)]
    return [day.replace(hour=_HOUR_OF_BUSINESS, minute=5, second=0, microsecond=0) for day in days]


def _mishaps(tenant: Tenant, now: datetime) -> None:
    """A payment that comes back, and a top-up that the bank returns."""
    yesterday = _mornings(now)[-1] + timedelta(hours=2)
    _pay(tenant, _payee(tenant, _CLOSED_PAYEE, yesterday), 37_500, yesterday)
    _top_up(tenant, _link(tenant, "10001", yesterday), 64_000, "Petty cash", yesterday)
    _bank_works(tenant, yesterday)


def _link(tenant: Tenant, word: str, now: datetime) -> FundingSource:
    draft = drafts.exchange(
        mode=tenant.mode,
        token=f"processor-sandbox-{word}",
        account_id=f"account-{word}",
        holder_name=tenant.name,
    )
    return linking.add(tenant_id=tenant.pk, draft=draft, actor=SYSTEM, now=now)


def _top_up(
    tenant: Tenant, source: FundingSource, amount: int, description: str, now: datetime
) -> None:
    topups.request(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        topup=TopUp(source_id=source.pk, amount=amount, description=description),
        actor=SYSTEM,
        now=now,
    )


def _fund_automatically(
    tenant: Tenant, source: FundingSource, approver: str, now: datetime
) -> None:
    auto_funding_config.configure(
        tenant_id=tenant.pk,
        changes={
            "enabled": True,
            "low_balance_threshold": 200_000,
            "funding_amount": 400_000,
            "funding_method": FundingMethod.ACH_DEBIT,
            "source_id": source.pk,
            "confirmation_threshold": 500_000,
            "confirmation_emails": [approver],
            "confirm_topups": True,
        },
        actor=SYSTEM,
        now=now,
    )


def _payee(tenant: Tenant, payee: tuple[str, str, str], now: datetime) -> Recipient:
    routing_number, account_number, name = payee
    details = BankDetails(
        account_number=account_number,
        routing_number=routing_number,
        holder_name=name,
        holder_type="business",
        account_type="checking",
    )
    return recipients.save(tenant_id=tenant.pk, details=details, actor=SYSTEM, now=now)


def _pay(tenant: Tenant, payee: Recipient, amount: int, now: datetime) -> None:
    order = Order(amount=amount, recipient=payee.pk, description="Invoice")
    orders.place(tenant_id=tenant.pk, mode=tenant.mode, order=order, actor=SYSTEM, now=now)


def _bank_works(tenant: Tenant, now: datetime) -> None:
    for later in _BANK_TAKES:
        due.run_all(tenant_id=tenant.pk, now=now + later)
