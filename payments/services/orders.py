"""Payment orders: a person or program sends money out of the balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from django.conf import settings
from django.db import transaction

from balance import services as ledger
from balance.selectors import Funds
from common import ids
from common.money import format_cents
from networks.bank_details import BankDetails
from networks.base import PaymentNetwork, Speed
from payments import automatic, selectors
from payments.errors import PaymentMethodNotSupported
from payments.methods import METHODS
from payments.models import AUTO, Payment, PaymentMethod, Recipient
from payments.services import approvals, judgement, lifecycle, recipients, totals, waiting
from payments.services.judgement import Judgement
from payments.services.lifecycle import NewPayment
from payments.states import PaymentStatus
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.errors import MayNotPay, ProofNeeded
from tenants.models import ActorType, Role, Tenant
from tenants.services import key_locks
from transfers.errors import AmountAboveLimit, NotCancelable
from transfers.methods import TransferMethod

PAYING = (Role.OWNER, Role.MEMBER)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the caller asks for, in cents. `recipient` is the id of a saved recipient, or an
    account.

    `method` may be `AUTO`. `speed` counts where the network offers it. `id` will be that
    of the payment.
    """

    amount: int
    recipient: str | BankDetails = field(repr=False)
    method: str = PaymentMethod.ACH_CREDIT
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    wait_for_funds: bool = False
    speed: str = Speed.STANDARD
    id: str = field(default_factory=partial(ids.new, "pay"))


@transaction.atomic
def place(
    *,
    tenant_id: str,
    mode: str,
    order: Order,
    actor: Actor,
    now: datetime,
    is_proven: bool = True,
) -> Payment:
    """Set the money aside and send it. An order that may wait for money joins the queue if there is
    none.

    Above the tenant's own limit the payment is sent once a second person has approved it: alone, or
    with what went to the same recipient, or from the same maker, in a day unasked. So it is
    while the recipient is new. Nobody is asked about what an owner pays who is alone
    (`exemption`): unless they have proven a moment ago who they are (`is_proven`), it is refused.

    Raises NotFound, RecipientRemoved, InvalidBankDetails, PaymentMethodNotSupported,
    AmountAboveLimit, KeyRevoked, PaymentLimitReached, PayerIsNew, ProofNeeded,
    InsufficientBalance.
    """
    method, network = _method_for(mode, order)
    if actor.type == ActorType.API_KEY:
        key_locks.hold(actor.id)
    recipient = recipients.for_payment(tenant_id=tenant_id, given=order.recipient, now=now)
    bounds = judgement.bounds_of(
        tenant_id=tenant_id, mode=mode, recipient=recipient, actor=actor, now=now
    )
    funds = ledger.lock_row(tenant_id=tenant_id)
    judged = judgement.judge(bounds, amount=order.amount, now=now)
    if judged.is_spared and not is_proven:
        raise ProofNeeded("Nobody else approves this payment. Prove once more that it is you.")
    waits = order.wait_for_funds and _waits(tenant_id, funds, order.amount, now)
    end_of_wait = now + timedelta(days=settings.PAYMENT_WAIT_DAYS)
    terms = NewPayment(
        recipient=recipient,
        amount=order.amount,
        method=method.name,
        is_automatic=order.method == AUTO,
        speed=order.speed,
        network=network.name,
        description=order.description,
        metadata=order.metadata,
        waits_until=end_of_wait if order.wait_for_funds else None,
        confirm_until=judged.confirm_until,
        counted_for=sorted(bounds.scopes.values()),
        id=order.id,
    )
    status = PaymentStatus.WAITING_FOR_FUNDS if waits else PaymentStatus.CREATED
    payment = lifecycle.start(terms=terms, status=status, actor=actor, now=now)
    totals.count(payment)
    if payment.needs_approval:
        approvals.request(payment=payment, rule=judged.rule, now=now)
    return payment


@transaction.atomic
def place_once(
    *, tenant_id: str, mode: str, order: Order, actor: Actor, now: datetime, is_proven: bool
) -> tuple[Payment, bool]:
    """Place an order from a form that may be sent twice: a repeat of `order.id` changes nothing.

    Returns the payment, and whether it is new. A payment that already has this id is returned as it
    is, even if the repeat has other values. Forms of one tenant run one after the other, and not
    beside a removal. Raises what `place` raises, and MayNotPay to who was removed meanwhile.
    """
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    _require_payer(tenant_id, actor)
    existing = Payment.objects.filter(tenant_id=tenant_id, pk=order.id).first()
    if existing is not None:
        return existing, False
    payment = place(
        tenant_id=tenant_id, mode=mode, order=order, actor=actor, now=now, is_proven=is_proven
    )
    return payment, True


@transaction.atomic
def cancel(*, tenant_id: str, payment_id: str, actor: Actor, now: datetime) -> Payment:
    """Cancel a payment that no network has seen. Raises NotFound, NotCancelable.

    A payment that was ever claimed for submission can no longer be canceled: its outcome may be
    unknown.
    """
    payment = _lock(tenant_id, payment_id)
    if not payment.is_unsent:
        raise NotCancelable(f"This payment is {payment.status} and cannot be canceled.")
    approvals.supersede(payment=payment, by=actor, now=now)
    lifecycle.move(
        payment=payment,
        target=PaymentStatus.CANCELED,
        actor=actor,
        now=now,
        reason="canceled",
        failure_code="canceled",
        failure_message="Canceled before it was handed to the bank.",
    )
    return payment


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What would become of an order now. `is_behind`: older payments wait for money, and it would
    wait behind them; what is available is for the caller to look at."""

    recipient: Recipient
    judged: Judgement
    is_behind: bool


def preview(*, tenant_id: str, mode: str, order: Order, actor: Actor, now: datetime) -> Preview:
    """What `place` would do with an order to a saved recipient; writes nothing, locks nothing.

    Raises NotFound, RecipientRemoved, PaymentMethodNotSupported, AmountAboveLimit,
    PaymentLimitReached, PayerIsNew.
    """
    _method_for(mode, order)
    recipient = recipients.kept(tenant_id=tenant_id, recipient_id=str(order.recipient))
    bounds = judgement.bounds_of(
        tenant_id=tenant_id, mode=mode, recipient=recipient, actor=actor, now=now
    )
    return Preview(
        recipient=recipient,
        judged=judgement.judge(bounds, amount=order.amount, now=now),
        is_behind=order.wait_for_funds and waiting.runnable(tenant_id, now=now).exists(),
    )


def _require_payer(tenant_id: str, actor: Actor) -> None:
    """A member who pays may still do so under the lock of the tenant. Raises MayNotPay."""
    if actor.type != ActorType.USER:
        return
    if not tenants.has_role(tenant_id=tenant_id, roles=PAYING, user_id=actor.id):
        raise MayNotPay("You were removed from the team a moment ago, or have another role.")


def _lock(tenant_id: str, payment_id: str) -> Payment:
    """The payment, locked so that nobody else can move it. Raises NotFound."""
    seen = selectors.payment(tenant_id=tenant_id, payment_id=payment_id)
    Payment.objects.select_for_update(no_key=True).get(pk=seen.pk)
    return selectors.payment(tenant_id=tenant_id, payment_id=payment_id)


def _method_for(mode: str, order: Order) -> tuple[TransferMethod, PaymentNetwork]:
    """The method by which an order goes at first, and its network."""
    if order.method == AUTO:
        methods, words = automatic.methods(mode), automatic.WORDS
    else:
        methods, words = [METHODS[order.method]], METHODS[order.method].words
    served = [(method, network) for method in methods if (network := method.network(mode))]
    if not served:
        raise PaymentMethodNotSupported(
            f"No payment network for {words} is connected.", field="method"
        )
    for method, network in served:
        if order.amount <= method.amount_max(mode):
            return method, network
    most = max(method.amount_max(mode) for method, _ in served)
    raise AmountAboveLimit(
        f"At most {format_cents(most)} per payment by {words}.", field="amount", limit=most
    )


def _waits(tenant_id: str, funds: Funds, amount: int, now: datetime) -> bool:
    """Whether the order has to wait: there is not enough money, or older orders wait. Decided under
    the balance row's lock."""
    return funds.available < amount or waiting.runnable(tenant_id, now=now).exists()
