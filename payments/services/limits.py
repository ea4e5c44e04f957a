"""How much a tenant may pay out: in all, to one recipient, by one key, by one person (decision
0161).

What was paid is read and counted under the lock of the tenant's balance, so payments that come at
once cannot slip past a limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from common import clock, days
from common.money import format_cents
from payments import caps, selectors
from payments.caps import Cap, Caps, CapScope, Window
from payments.errors import PaymentLimitReached
from payments.models import PaymentSettings, Recipient
from payments.services import totals
from payments.services.totals import Usage
from tenants import persons
from tenants.actors import Actor
from tenants.models import ActorType

_OF = {
    CapScope.TENANT: "",
    CapScope.RECIPIENT: " to one recipient",
    CapScope.KEY: " by one API key",
    CapScope.PERSON: " by one person and the API keys that they made",
}
_IN = {Window.DAY: "any 24 hours", Window.MONTH: "any 30 days"}


@dataclass(frozen=True)
class Standing:
    """One limit, and what counts against it. `used` None: it has no one payer or recipient here."""

    scope: CapScope
    window: Window
    cap: Cap
    used: totals.Used | None

    @property
    def frees_at(self) -> datetime | None:
        """When the first of it counts no longer."""
        if self.used is None or self.used.since is None:
            return None
        return self.window.frees_at(self.used.since)


def in_force(*, tenant_id: str, mode: str, now: datetime) -> Caps:
    """The tenant's own limits, or those of the deployment. One query."""
    row = PaymentSettings.objects.filter(tenant_id=tenant_id).first()
    return of_settings(row, mode=mode, now=now)


def of_settings(row: PaymentSettings | None, *, mode: str, now: datetime) -> Caps:
    """`in_force`, where the settings are known."""
    stored = row.limits_at(now) if row else None
    return caps.default(mode) if stored is None else caps.from_stored(stored)


def maker_of(actor: Actor) -> str | None:
    """The id of the person whose payments these are; None for what no person does."""
    return persons.behind(actor)


def scopes_of(actor: Actor) -> dict[CapScope, str]:
    """The scopes of what this actor pays, as totals name them, but that of the recipient. One query
    for a key, none for others."""
    found = {CapScope.TENANT: str(CapScope.TENANT)}
    if actor.type == ActorType.API_KEY:
        found[CapScope.KEY] = f"{CapScope.KEY}:{actor.id}"
    if maker := maker_of(actor):
        found[CapScope.PERSON] = f"{CapScope.PERSON}:{maker}"
    return found


def scope_of_recipient(recipient: Recipient) -> str:
    """An account is the same however often it is given."""
    return selectors.scope_of_account(recipient.fingerprint)


def require_room(
    in_force: Caps,
    *,
    tenant_id: str,
    scopes: Mapping[CapScope, str],
    used: Mapping[str, Usage],
    amount: int,
    now: datetime,
) -> None:
    """Refuse a payment of `amount` cents that a limit does not let through. `used` was read under
    the lock of the balance. Raises PaymentLimitReached."""
    for scope, name in scopes.items():
        usage = used.get(name, totals.NOTHING)
        for window in Window:
            cap, now_used = in_force[scope, window], usage.within(window)
            over_amount = _over(cap.amount, now_used.amount, amount)
            over_payments = _over(cap.payments, now_used.payments, 1)
            if over_amount <= 0 and over_payments <= 0:
                continue
            frees_at = totals.frees_at(
                tenant_id=tenant_id,
                scope=name,
                window=window,
                now=now,
                amount=over_amount,
                payments=over_payments,
            )
            raise _refusal(Standing(scope, window, cap, now_used), over_amount > 0, frees_at)


def standings(*, tenant_id: str, mode: str, actor: Actor, now: datetime) -> Iterator[Standing]:
    """All limits in force, with what counts against them of this actor. Three queries at most."""
    scopes = scopes_of(actor)
    in_force_now = in_force(tenant_id=tenant_id, mode=mode, now=now)
    used = totals.used(tenant_id=tenant_id, scopes=scopes.values(), now=now)
    for scope, window in caps.KEYS:
        name = scopes.get(scope)
        usage = used.get(name, totals.NOTHING).within(window) if name else None
        yield Standing(scope, window, in_force_now[scope, window], usage)


def unasked(scopes: Mapping[CapScope, str], used: Mapping[str, Usage]) -> int:
    """The most cents of a day for which nobody was asked: of those to this recipient, and of those
    by this maker, who is a person, or else a key."""
    maker = scopes.get(CapScope.PERSON) or scopes.get(CapScope.KEY)
    names = [name for name in (scopes.get(CapScope.RECIPIENT), maker) if name]
    return max((used[name].unasked for name in names if name in used), default=0)


def _over(most: int | None, used: int, more: int) -> int:
    """By how much `more` is too much; 0 or less if it is not."""
    return 0 if most is None else used + more - most


def _refusal(limit: Standing, is_amount: bool, frees_at: datetime | None) -> PaymentLimitReached:
    used = limit.used or totals.Used()
    most = (limit.cap.amount if is_amount else limit.cap.payments) or 0
    left = max(0, most - (used.amount if is_amount else used.payments))
    shown = format_cents if is_amount else _payments
    when = f" There is room from {days.words(frees_at)} on." if frees_at else ""
    return PaymentLimitReached(
        f"At most {shown(most)} in {_IN[limit.window]}{_OF[limit.scope]}."
        f" {shown(left)} left.{when}",
        field="amount",
        scope=str(limit.scope),
        window=str(limit.window),
        measure="amount" if is_amount else "payments",
        limit=most,
        remaining=left,
        frees_at=clock.text_of(frees_at) if frees_at else None,
    )


def _payments(count: int) -> str:
    return "1 payment" if count == 1 else f"{count:,} payments"
