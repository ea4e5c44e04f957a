"""Staff keep a movement from its network, look at it, and let it go or end it.

A hold is no status: the row stays what it is, and claims and sweeps leave it alone. Whatever staff
do needs a reason, which stays with us; the tenant's people are told what happens, not why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from django.db import models, transaction
from django.db.models import Q

from common.errors import StaffRefusal
from common.leases import Leased
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.services import audit, emails
from transfers.accounts import StoredAccount

REASON_LENGTH_MAX = 200
# Its owner may still give up a held row: what is over is held no longer.
HOLD_ENDS: Mapping[str, Any] = MappingProxyType({"held_at": None, "hold_reason": ""})
FAILURE_CODE = "stopped_by_review"
FAILURE_MESSAGE = "Our review stopped it before it was sent. Contact support."
MAIL = "review"


class NotHoldable(StaffRefusal):
    code = "not_holdable"
    title = "Too late to hold"
    advice = "Only what was not yet handed to the network can be held."


class NotHeld(StaffRefusal):
    code = "not_held"
    title = "Not held"
    advice = "Hold it first, so that nobody sends it meanwhile."


class ReasonNeeded(StaffRefusal):
    code = "reason_needed"
    title = "A reason is needed"
    advice = "Say in a sentence why."


class Holdable(Leased):
    """A row to be handed to a network, which staff can hold. `hold_reason` is for staff."""

    held_at = models.DateTimeField(null=True, blank=True)
    hold_reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)

    # A held row waits for a person, so the age of its queue does not count it.
    QUEUED: ClassVar[Q] = Leased.QUEUED & Q(held_at=None)

    class Meta:
        abstract = True


def has_a_reason(name: str) -> models.CheckConstraint:
    """A held row says why; a row that is not held says nothing."""
    return models.CheckConstraint(
        condition=Q(held_at=None, hold_reason="") | (Q(held_at__isnull=False) & ~Q(hold_reason="")),
        name=name,
    )


def held_first(name: str) -> models.Index:
    """An index of the few rows that staff hold."""
    return models.Index(fields=("held_at",), name=name, condition=Q(held_at__isnull=False))


Row = TypeVar("Row", bound=Holdable)


@dataclass(frozen=True, kw_only=True)
class Shelf(Generic[Row]):
    """One app's rows. They have `tenant_id`, `amount`, `status` and `updated_at`.

    `lock` returns a row, locked until the end of the transaction. `end` fails it with everything
    that goes with it, by this actor and for this reason. `on_release` gives the columns that time
    has made wrong.
    """

    noun: str
    lock: Callable[[str], Row]
    is_unsent: Callable[[Row], bool]
    account: Callable[[Row], StoredAccount]
    end: Callable[[Row, Actor, str, datetime], None]
    on_release: Callable[[Row, datetime], Mapping[str, Any]]


@transaction.atomic
def hold(shelf: Shelf[Row], row_id: str, *, reason: str, actor: Actor, now: datetime) -> None:
    """Keep a row that no network has seen where it is. Repeatable.

    Raises NotHoldable, ReasonNeeded.
    """
    reason, row = _checked(reason), shelf.lock(row_id)
    if row.held_at is not None:
        return
    if not shelf.is_unsent(row):
        raise NotHoldable(f"It is {_status(row)}.")
    _change(row, now, held_at=now, hold_reason=reason)
    _record(shelf, row, "held", reason, actor, now)


@transaction.atomic
def release(shelf: Shelf[Row], row_id: str, *, reason: str, actor: Actor, now: datetime) -> None:
    """Let a held row go on; the sweeps take it up. Repeatable. Raises ReasonNeeded."""
    reason, row = _checked(reason), shelf.lock(row_id)
    if row.held_at is None:
        return
    changes = shelf.on_release(row, now) if shelf.is_unsent(row) else {}
    _change(row, now, held_at=None, hold_reason="", **changes)
    _record(shelf, row, "released", reason, actor, now)


@transaction.atomic
def stop(shelf: Shelf[Row], row_id: str, *, reason: str, actor: Actor, now: datetime) -> None:
    """End a held row for good: it fails, and nothing was sent. Raises NotHeld, ReasonNeeded."""
    reason, row = _checked(reason), shelf.lock(row_id)
    if row.held_at is None or not shelf.is_unsent(row):
        raise NotHeld(f"It is {_status(row)}.")
    _change(row, now, held_at=None, hold_reason="")
    shelf.end(row, actor, FAILURE_MESSAGE, now)
    _record(shelf, row, "stopped", reason, actor, now)


def count(rows: type[Holdable]) -> int:
    """How many staff hold now."""
    return rows._default_manager.filter(held_at__isnull=False).count()


def _checked(reason: str) -> str:
    if not 1 <= len(reason := reason.strip()) <= REASON_LENGTH_MAX:
        raise ReasonNeeded(
            f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.", field="reason"
        )
    return reason


def _status(row: Any) -> str:
    return str(row.status)


def _change(row: Holdable, now: datetime, **columns: Any) -> None:
    columns["updated_at"] = now
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=list(columns))


def _record(
    shelf: Shelf[Row], row: Any, what: str, reason: str, actor: Actor, now: datetime
) -> None:
    """For us with the reason; for the tenant's people without."""
    account = shelf.account(row)
    audit.record(
        tenant_id=row.tenant_id,
        actor=actor,
        action=f"{shelf.noun}.{what}",
        subject_id=row.pk,
        details={
            "amount": row.amount,
            "direction": "in" if shelf.noun == "funding" else "out",
            "bankName": account.bank_name,
            "last4": account.last4,
        },
        staff_note=reason,
        now=now,
    )
    facts = {
        "tenant_name": tenants.tenant(row.tenant_id).name,
        "noun": shelf.noun,
        "what": what,
        "amount": row.amount,
        "bank_name": account.bank_name,
        "last4": account.last4,
        "reference": row.pk,
    }
    emails.queue_notice(tenant_id=row.tenant_id, template=MAIL, context=facts, now=now)
