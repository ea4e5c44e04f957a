"""A model of a tenant's money that is plainly right: each step acts on it and on the product.

It knows what each test account does, keeps three sums and a queue, who waits for a second person,
and when automatic funding fires; nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from approvals import answers, deciders, links
from approvals.errors import ApprovalClosed
from balance import selectors
from balance.errors import InsufficientBalance
from common.errors import DomainError
from common.money import format_cents
from funding.models import FundingTransaction
from funding.services import auto_funding, pauses, topups
from funding.transfer import FUNDING
from payments.models import Payment, PaymentConfirmation, PaymentMethod
from payments.services import approval_settings, approvals, orders, waiting
from payments.services.approval_policy import POLICY
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM
from tests.builders import NOW, make_auto_funding, make_source, make_tenant
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay, take
from transfers import holds, submission
from transfers.errors import NotCancelable
from transfers.holds import NotHoldable
from transfers.inbox import messages

# What becomes of money sent to (or asked from) each test account, once a network has it.
FATES = {"123456": "completed", "10001": "failed", "20001": "returned", "30001": "processing"}
NUMBERS = sorted(FATES)
REJECTED = "40004"
FLYING = {"reserved", "pending"}
WAIT = timedelta(days=7)
ASKED_ABOVE = 800
ASKED_FOR = timedelta(hours=72)
# What counts no longer in the sum of a day to one recipient.
GONE = {"failed", "canceled", "returned"}
# Automatic funding draws on an account of its own, so that nothing else pauses it.
AUTO_SOURCE, AUTO_BELOW, AUTO_AMOUNT = "777777", 300, 500
RUNAWAY = timedelta(minutes=10)


@dataclass
class Out:
    """One payment of the model."""

    row: Payment
    amount: int
    fate: str
    status: str
    gives_up: datetime
    asked_until: datetime | None
    number: str
    made_at: datetime
    was_asked: bool
    held_at: datetime | None = None
    is_held_back: bool = False

    @property
    def is_held(self) -> bool:
        return self.held_at is not None

    @property
    def is_unsent(self) -> bool:
        return self.status in {"waiting_for_funds", "created"}


@dataclass
class In:
    """One top-up of the model."""

    row: FundingTransaction
    amount: int
    fate: str
    status: str = "reserved"
    is_automatic: bool = False


@dataclass
class World:
    """Each step acts on the model and on the product."""

    tenant: Any
    now: datetime = NOW
    available: int = 0
    outs: list[Out] = field(default_factory=list)
    ins: list[In] = field(default_factory=list)
    sources: dict[str, Any] = field(default_factory=dict)
    firings: list[datetime] = field(default_factory=list)
    is_paused: bool = False

    @property
    def locked(self) -> int:
        return sum(out.amount for out in self.outs if out.status in {"created", "processing"})

    @property
    def pending(self) -> int:
        return sum(each.amount for each in self.ins if each.status in FLYING)

    def queue(self) -> list[Out]:
        return [
            out
            for out in self.outs
            if out.status == "waiting_for_funds" and not out.is_held and out.gives_up > self.now
        ]

    def step(self, action: str, *arguments: Any) -> None:
        self.now += timedelta(seconds=1)
        getattr(self, action)(*arguments)
        auto_funding.sweep(now=self.now)
        self._fire_if_low()

    def unasked(self, number: str) -> int:
        """Cents of a day to this account for which nobody was asked."""
        return sum(
            out.amount
            for out in self.outs
            if out.number == number
            and not out.was_asked
            and out.status not in GONE
            and out.made_at > self.now - timedelta(days=1)
        )

    def staff_credit(self, amount: int) -> None:
        fund(self.tenant, amount, now=self.now)
        self.available += amount

    def staff_debit(self, amount: int) -> None:
        take(self.tenant, amount, now=self.now)
        self.available -= amount

    def top_up(self, amount: int, number: str) -> None:
        if number not in self.sources:
            self.sources[number] = make_source(self.tenant, account_number=number)
        row = top_up(self.tenant, amount=amount, source=self.sources[number], now=self.now)
        self.ins.append(In(row, amount, FATES[number]))

    def pay(self, amount: int, number: str, may_wait: bool) -> None:
        is_covered = amount <= self.available
        must_wait = may_wait and (not is_covered or bool(self.queue()))
        method = PaymentMethod.RTP if number == REJECTED else PaymentMethod.ACH_CREDIT
        order = partial(
            pay, self.tenant, amount, to=number, method=method, wait=may_wait, now=self.now
        )
        if not (is_covered or may_wait):
            with pytest.raises(InsufficientBalance) as refusal:
                order()
            assert refusal.value.extra["shortfall"] == amount - self.available
            return
        is_asked = self.unasked(number) + amount > ASKED_ABOVE
        row = order()
        status = "waiting_for_funds" if must_wait else "created"
        self.available -= 0 if must_wait else amount
        self.outs.append(
            Out(
                row,
                amount,
                FATES.get(number, "failed"),
                status,
                gives_up=self.now + WAIT,
                asked_until=self.now + ASKED_FOR if is_asked else None,
                number=number,
                made_at=self.now,
                was_asked=is_asked,
            )
        )

    def approve(self, pick: int) -> None:
        if out := self._pick([out for out in self.outs if out.was_asked], pick):
            typed = format_cents(out.amount)
            if self._answer(out, partial(answers.approve, typed_amount=typed)):
                out.asked_until = None

    def decline(self, pick: int) -> None:
        if out := self._pick([out for out in self.outs if out.was_asked], pick):
            self._end_if(self._answer(out, partial(answers.decline, reason="no")), out, "failed")

    def _answer(self, out: Out, answer: Any) -> bool:
        """Answer by link; whether that was still possible."""
        could = out.is_unsent and out.asked_until is not None and self.now < out.asked_until
        approval = PaymentConfirmation.objects.get(payment=out.row.pk)
        link = links.mint(POLICY, approval, approver_email=deciders.MADE_UP_APPROVER, now=self.now)
        token = link.rstrip("/").rpartition("/")[2]
        self._try(lambda: answer(token=token, now=self.now), None if could else ApprovalClosed)
        return could

    def _end_if(self, does_end: bool, out: Out, status: str) -> None:
        if does_end:
            self.available += out.amount if out.status == "created" else 0
            out.status, out.held_at, out.is_held_back = status, None, False

    def cancel(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            could = out.is_unsent
            self._try(
                lambda: orders.cancel(
                    tenant_id=self.tenant.pk, payment_id=out.row.pk, actor=SYSTEM, now=self.now
                ),
                NotCancelable if not could else None,
            )
            self._end_if(could, out, "canceled")

    def cancel_top_up(self, pick: int) -> None:
        if each := self._pick([each for each in self.ins if not each.is_automatic], pick):
            could = each.status == "reserved"
            self._try(
                lambda: topups.cancel(
                    tenant_id=self.tenant.pk, funding_id=each.row.pk, actor=SYSTEM, now=self.now
                ),
                NotCancelable if not could else None,
            )
            each.status = "failed" if could else each.status

    def hold(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            could = out.is_held or out.is_unsent
            self._try(
                lambda: holds.hold(PAYMENTS, out.row.pk, reason="look", actor=SYSTEM, now=self.now),
                NotHoldable if not could else None,
            )
            out.held_at = (out.held_at or self.now) if could else None

    def release(self, pick: int) -> None:
        if out := self._pick(self.outs, pick):
            holds.release(PAYMENTS, out.row.pk, reason="fine", actor=SYSTEM, now=self.now)
            if out.held_at is not None:
                out.gives_up += self.now - out.held_at
            out.held_at = None

    def submit(self) -> None:
        submission.submit_due(PAYMENTS, now=self.now)
        submission.submit_due(FUNDING, now=self.now)
        for out in self.outs:
            is_due = out.status == "created" and not out.is_held and not out.is_held_back
            if is_due and out.asked_until is None:
                out.is_held_back = self.available < 0
                out.status = "created" if out.is_held_back else "processing"
        for each in self.ins:
            each.status = "pending" if each.status == "reserved" else each.status

    def listen(self) -> None:
        messages.process(PAYMENTS, now=self.now)
        messages.process(FUNDING, now=self.now)
        for out in self.outs:
            if out.status == "processing":
                out.status = out.fate
                self.available += out.amount if out.fate in {"failed", "returned"} else 0
        for each in self.ins:
            if each.status == "pending" and each.fate != "processing":
                arrived = each.fate == "completed"
                each.status = "completed" if arrived else "failed"
                self.available += each.amount if arrived else 0

    def run_queue(self) -> None:
        waiting.run_due(now=self.now)
        for out in self.outs:
            out.is_held_back = out.is_held_back and self.available < 0
        for out in self.queue():
            if out.amount > self.available:
                break
            out.status = "created"
            self.available -= out.amount

    def pass_days(self) -> None:
        self.now += timedelta(days=3)
        waiting.expire_due(now=self.now)
        approvals.sweep(now=self.now)
        for out in self.outs:
            is_late = out.status == "waiting_for_funds" and out.gives_up <= self.now
            is_unanswered = out.asked_until is not None and out.asked_until <= self.now
            is_over = out.is_unsent and (is_late or is_unanswered)
            self._end_if(is_over and not out.is_held, out, "failed")

    def resume(self) -> None:
        """A person acts after a runaway; firings before that do not count any more."""
        assert pauses.resume(tenant_id=self.tenant.pk, actor=SYSTEM, now=self.now) is self.is_paused
        if self.is_paused:
            self.is_paused, self.firings = False, []

    def _fire_if_low(self) -> None:
        """At most one automatic funding in flight; the fourth within ten minutes is a runaway."""
        is_busy = any(each.is_automatic and each.status in FLYING for each in self.ins)
        if self.is_paused or is_busy or self.available + self.pending >= AUTO_BELOW:
            return
        if sum(self.now - fired < RUNAWAY for fired in self.firings) >= 3:
            self.is_paused = True
            return
        row = FundingTransaction.objects.filter(tenant=self.tenant, trigger="auto_funding").latest(
            "created_at", "pk"
        )
        self.firings.append(self.now)
        self.ins.append(In(row, AUTO_AMOUNT, "completed", is_automatic=True))

    @staticmethod
    def _pick(rows: list[Any], pick: int) -> Any:
        return rows[pick % len(rows)] if rows else None

    @staticmethod
    def _try(act: Any, refusal: type[DomainError] | None) -> None:
        if refusal is None:
            act()
            return
        with pytest.raises(refusal):
            act()


def check(world: World) -> None:
    """Everything that must hold after any step."""
    funds = selectors.summary(world.tenant.pk)
    assert (funds.available, funds.pending, funds.locked) == (
        world.available,
        world.pending,
        world.locked,
    )
    statuses = dict(Payment.objects.filter(tenant=world.tenant).values_list("pk", "status"))
    assert statuses == {out.row.pk: out.status for out in world.outs}
    fundings = FundingTransaction.objects.filter(tenant=world.tenant)
    assert set(fundings.values_list("pk", flat=True)) == {each.row.pk for each in world.ins}
    for line in selectors.transactions(world.tenant.pk).filter(type="lock"):
        assert line["available_after"] >= 0


def new_world() -> World:
    """A tenant without money, which fires at once: nothing is on its way yet."""
    tenant = make_tenant()
    source = make_source(tenant, account_number=AUTO_SOURCE)
    make_auto_funding(
        tenant, low_balance_threshold=AUTO_BELOW, funding_amount=AUTO_AMOUNT, source=source
    )
    approval_settings.set_threshold(
        tenant_id=tenant.pk, threshold=ASKED_ABOVE, actor=SYSTEM, now=NOW
    )
    return World(tenant)
