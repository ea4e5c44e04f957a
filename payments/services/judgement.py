"""What the limits, the approval limit and the cool-down say of a payment. The order asks, and so
does the page that tells people what the order will do (decision 0186).

It takes two steps, because an order holds the lock of the balance for the second one only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from approvals import requests
from common import days
from common.money import format_cents
from payments.caps import Caps, CapScope
from payments.models import PaymentSettings, Recipient
from payments.services import approval_defaults, approvals, cool_down, exemption, limits, totals
from payments.services.cool_down import New
from tenants.actors import Actor


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What bounds payments of one actor to one recipient, whatever was paid before. `threshold` is
    cents; `new`: whether the recipient is, and until when; `is_new_to_others`: whether it would be,
    were the actor not exempt."""

    tenant_id: str
    actor: Actor
    scopes: Mapping[CapScope, str]
    caps: Caps
    threshold: int | None
    new: New | None
    is_new_to_others: bool


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """A payment that the limits let through. `confirm_until`: when its approval would expire; None
    if nobody is asked. `is_spared`: nobody is, because its payer is alone (decision 0184)."""

    bounds: Bounds
    amount: int
    confirm_until: datetime | None
    is_spared: bool

    @property
    def rule(self) -> str:
        """Why a second person is asked, for those who are."""
        if self.bounds.new is not None:
            return f"{_newness(self.bounds.new)}: a second person approves."
        threshold = self.bounds.threshold
        above = f"Above {format_cents(threshold or 0)}"
        if threshold is None or self.amount > threshold:
            return f"{above} a second person approves."
        return f"{above} in a day, to one recipient or by one person, a second one approves."


def bounds_of(
    *, tenant_id: str, mode: str, recipient: Recipient, actor: Actor, now: datetime
) -> Bounds:
    """What holds for this actor and recipient now. It needs no lock."""
    rules = PaymentSettings.objects.filter(tenant_id=tenant_id).first()
    recipient_scope = {CapScope.RECIPIENT: limits.scope_of_recipient(recipient)}
    new, is_new_to_others = cool_down.of(recipient, rules=rules, mode=mode, actor=actor, now=now)
    return Bounds(
        tenant_id=tenant_id,
        actor=actor,
        scopes={**limits.scopes_of(actor), **recipient_scope},
        caps=limits.of_settings(rules, mode=mode, now=now),
        threshold=approval_defaults.threshold_of_settings(
            rules, tenant_id=tenant_id, mode=mode, now=now
        ),
        new=new,
        is_new_to_others=is_new_to_others,
    )


def _newness(new: New) -> str:
    if new.until is None:
        return "A payment to this recipient was declined, and none is approved yet"
    return f"The recipient is new until {days.words(new.until)}"


def judge(bounds: Bounds, *, amount: int, now: datetime) -> Judgement:
    """What becomes of a payment of `amount` cents, by what was paid until now. Writes nothing.

    An order calls it under the lock of the balance, so that nobody pays in between. Raises
    PaymentLimitReached, PayerIsNew.
    """
    used = totals.used(tenant_id=bounds.tenant_id, scopes=bounds.scopes.values(), now=now)
    limits.require_room(
        bounds.caps,
        tenant_id=bounds.tenant_id,
        scopes=bounds.scopes,
        used=used,
        amount=amount,
        now=now,
    )
    in_sum = limits.unasked(bounds.scopes, used) + amount
    confirm_until = _confirm_until(bounds, amount=in_sum, now=now)
    if confirm_until is not None:
        exemption.refuse_new(tenant_id=bounds.tenant_id, actor=bounds.actor, now=now)
    is_bound = bounds.is_new_to_others or _is_above(bounds, amount=in_sum, now=now)
    return Judgement(
        bounds=bounds,
        amount=amount,
        confirm_until=confirm_until,
        is_spared=is_bound and confirm_until is None,
    )


def _is_above(bounds: Bounds, *, amount: int, now: datetime) -> bool:
    return requests.deadline(bounds.threshold, amount=amount, now=now) is not None


def _confirm_until(bounds: Bounds, *, amount: int, now: datetime) -> datetime | None:
    if bounds.new is not None:
        return now + requests.VALID_FOR
    return approvals.deadline(
        bounds.threshold, amount=amount, tenant_id=bounds.tenant_id, actor=bounds.actor, now=now
    )
