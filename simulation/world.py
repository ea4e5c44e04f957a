"""What exists in one simulated history: tenants with their people, a bank, receivers, a clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet

from approvals import policies
from approvals.models import ApprovalStatus
from balance import services as ledger
from common.clock import utc_now
from funding.models import AutoFundingConfig, FundingMethod, FundingSource, FundingTransaction
from funding.services import drafts, linking
from funding.states import FundingStatus
from payments.models import Payment
from payments.services import approval_settings
from payments.states import PaymentStatus
from simulation.bank import Bank
from simulation.front import Front, Intent
from simulation.plans import TENANTS, Plan
from simulation.receivers import Receivers
from simulation.seams import Time
from simulation.tally import Tally
from simulation.themes import THEMES
from tenants.actors import SYSTEM
from tenants.models import Mode, Role, Tenant
from tenants.services import accounts, keys
from webhooks.services import endpoints
from webhooks.services.urls import CheckedUrl

_UNSENT_PAYMENTS = (PaymentStatus.WAITING_FOR_FUNDS, PaymentStatus.CREATED)
_TAKEN_OVER = (PaymentStatus.PROCESSING, FundingStatus.PENDING)
_UNSENT_FUNDINGS = (FundingStatus.AWAITING_CONFIRMATION, FundingStatus.RESERVED)
BEGINNING = datetime(2026, 11, 2, 15, 0, tzinfo=UTC)
APPROVED_ABOVE = 800
FIRST_MONEY = 1_000


@dataclass(frozen=True)
class Customer:
    """A tenant, and what its programs know."""

    tenant: Tenant
    api_key: str
    source_id: str


@dataclass
class Deed:
    """What a person at the desk or an approver did. `was_told`: they saw that it was done. `begun`
    and `ended` are numbers that tell the order of things."""

    kind: str
    subject_id: str
    tenant_id: str
    was_told: bool
    amount: int = 0
    begun: int = 0
    ended: int = 0


@dataclass
class World:
    """`intents` and `deeds` are what people asked for, and what they were told."""

    time: Time
    bank: Bank
    receivers: Receivers
    tally: Tally
    front: Front
    customers: list[Customer] = field(default_factory=list)
    intents: list[Intent] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    wake_ups: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    suspicions: list[tuple[str, str]] = field(default_factory=list)
    moments: int = 0

    def moment(self) -> int:
        """A number that is larger than all numbers before."""
        self.moments += 1
        return self.moments

    def known(self, prefix: str, tenant_id: str) -> list[str]:
        """The ids of what the tenant's programs were told was made, oldest first."""
        made = (i.success for i in self.intents if i.tenant_id == tenant_id)
        ids = [str(each["id"]) for each in made if each and "id" in each]
        return [each for each in dict.fromkeys(ids) if each.startswith(prefix)]


def make(plan: Plan, *, time: Time, tally: Tally) -> World:
    """Make a world on an empty database. Its clock and its random numbers must be installed."""
    world = World(
        time=time,
        bank=Bank(seed=plan.seed, time=time, tally=tally, returns=THEMES[plan.theme].returns),
        receivers=Receivers(seed=plan.seed, time=time, tally=tally),
        tally=tally,
        front=Front(),
    )
    world.customers = [_customer(number) for number in range(TENANTS)]
    time.now += timedelta(minutes=1)
    return world


def _customer(number: int) -> Customer:
    now = utc_now()
    tenant = accounts.create_tenant(
        name=f"Tenant {number}", mode=Mode.SANDBOX, actor=SYSTEM, now=now
    )
    for role in (Role.OWNER, Role.APPROVER):
        accounts.create_member(
            tenant_id=tenant.pk,
            email=f"{role}-{number}@example.com",
            role=role,
            password=None,
            actor=SYSTEM,
            now=now,
        )
    issued = keys.issue(tenant=tenant, name="simulation", actor=SYSTEM, now=now)
    endpoints.register(
        tenant_id=tenant.pk,
        url=CheckedUrl(f"https://receiver-{number}.example.com/"),
        events=["*"],
        actor=SYSTEM,
        now=now,
    )
    source_id = _money_of(tenant, now)
    return Customer(tenant, issued.text, source_id)


def _money_of(tenant: Tenant, now: datetime) -> str:
    """Give a tenant a bank account, auto-funding from it, a limit for approvals, and some money;
    returns the id of the account."""
    draft = drafts.enter(
        mode=tenant.mode,
        account_number="000123456789",
        routing_number="021000021",
        holder_name=f"Holder of {tenant.pk[-4:]}",
        holder_type="business",
        account_type="checking",
    )
    source = linking.add(tenant_id=tenant.pk, draft=draft, actor=SYSTEM, now=now)
    config = AutoFundingConfig.objects.create(
        tenant=tenant,
        enabled=True,
        low_balance_threshold=300,
        funding_amount=500,
        funding_method=FundingMethod.ACH_DEBIT,
        updated_at=now,
    )
    ledger.set_notify_below(tenant_id=tenant.pk, amount=config.low_balance_threshold)
    approval_settings.set_threshold(
        tenant_id=tenant.pk, threshold=APPROVED_ABOVE, actor=SYSTEM, now=now
    )
    ledger.adjust(
        tenant_id=tenant.pk,
        type="credit",
        amount=FIRST_MONEY,
        reason="first",
        actor=SYSTEM,
        now=now,
    )
    return source.pk


def next_deadline(*, after: datetime) -> datetime | None:
    """When the next open approval or wait for money ends; None if there is none."""
    open_ones = [
        policy.approvals().filter(decision=ApprovalStatus.OPEN, expires_at__gt=after)
        for policy in policies.every()
    ]
    ends = [
        found.order_by("expires_at").values_list("expires_at", flat=True)[:1] for found in open_ones
    ]
    moments = [moment for found in ends for moment in found]
    return min([*moments, *filter(None, [next_end_of_a_wait(after=after)])], default=None)


def next_end_of_a_wait(*, after: datetime) -> datetime | None:
    """When the next payment has waited for money too long; None if none waits."""
    waiting = Payment.objects.filter(
        status=PaymentStatus.WAITING_FOR_FUNDS, held_at=None, waits_until__gt=after
    )
    return waiting.order_by("waits_until").values_list("waits_until", flat=True).first()


def taken_over(prefix: str, tenant_id: str) -> list[str]:
    """The ids of what a bank has and may not have sent, the newest in front."""
    model: Any = Payment if prefix == "pay_" else FundingTransaction
    rows = model._default_manager.filter(tenant_id=tenant_id, status__in=_TAKEN_OVER)
    return list(rows.order_by("-pk").values_list("pk", flat=True))


def sources_of(tenant_id: str) -> list[str]:
    """The ids of the tenant's bank accounts."""
    found = FundingSource.objects.filter(tenant_id=tenant_id).order_by("pk")
    return list(found.values_list("pk", flat=True))


def unsent(prefix: str, tenant_id: str) -> list[str]:
    """The ids of what no bank has seen, the one that ends first in front."""
    payments = Payment.objects.filter(tenant_id=tenant_id, status__in=_UNSENT_PAYMENTS)
    fundings = FundingTransaction.objects.filter(tenant_id=tenant_id, status__in=_UNSENT_FUNDINGS)
    rows: QuerySet[Any] = payments.order_by(
        F("waits_until").asc(nulls_last=True),
        F("confirmation_expires_at").asc(nulls_last=True),
        "pk",
    )
    if prefix != "pay_":
        rows = fundings.order_by(F("confirmation_expires_at").asc(nulls_last=True), "pk")
    return list(rows.values_list("pk", flat=True))
