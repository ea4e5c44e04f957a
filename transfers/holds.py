"""Staff keep a transfer from its network, look at it, and release it or end it; or ask the network
to give it back.

A hold is not a status: the row keeps its status, and claims and sweeps skip it. Staff give a reason
for each act. Only staff read it; the tenant's people are told what happens, not why.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import structlog
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import QuerySet

from common.errors import StaffRefusal
from networks import registry
from networks.base import NetworkUnavailable, Withdrawal
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.services import audit, emails
from transfers.contract import Row, Transfer
from transfers.rows import REASON_LENGTH_MAX, TransferRow

log = structlog.get_logger(__name__)

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


class NotWithdrawable(StaffRefusal):
    code = "not_withdrawable"
    title = "Nothing to withdraw"
    advice = "Only what its network has taken over and not sent yet can be withdrawn."


class TooLateToWithdraw(StaffRefusal):
    code = "too_late_to_withdraw"
    title = "Too late"
    advice = "Its network has sent it. Nothing has changed."


class WithdrawalUnanswered(StaffRefusal):
    code = "withdrawal_unanswered"
    title = "No answer"
    advice = "Its network may have withdrawn it or not. Ask again: that does no harm."


class ReasonNeeded(StaffRefusal):
    code = "reason_needed"
    title = "A reason is needed"
    advice = "Say in a sentence why."


@transaction.atomic
def hold(transfer: Transfer[Row], row_id: str, *, reason: str, actor: Actor, now: datetime) -> None:
    """Keep a row that no network has seen from being sent. Repeatable.

    Raises NotHoldable, ReasonNeeded.
    """
    reason, row = _checked(reason), _locked(transfer, row_id)
    if row.held_at is not None:
        return
    if not row.is_unsent:
        raise NotHoldable(f"It is {_status(row)}.")
    _change(row, now, held_at=now, hold_reason=reason)
    _record(transfer, row, "held", reason, actor, now)


@transaction.atomic
def release(
    transfer: Transfer[Row], row_id: str, *, reason: str, actor: Actor, now: datetime
) -> None:
    """Let a held row go on; the sweeps pick it up. Repeatable. Raises ReasonNeeded."""
    reason, row = _checked(reason), _locked(transfer, row_id)
    if row.held_at is None:
        return
    changes = transfer.on_release(row, now) if row.is_unsent else {}
    _change(row, now, held_at=None, hold_reason="", **changes)
    _record(transfer, row, "released", reason, actor, now)


@transaction.atomic
def stop(transfer: Transfer[Row], row_id: str, *, reason: str, actor: Actor, now: datetime) -> None:
    """Fail a held row for good. Nothing was sent. Raises NotHeld, ReasonNeeded."""
    reason, row = _checked(reason), _locked(transfer, row_id)
    if row.held_at is None or not row.is_unsent:
        raise NotHeld(f"It is {_status(row)}.")
    _change(row, now, held_at=None, hold_reason="")
    transfer.end(row, actor=actor, code=FAILURE_CODE, message=FAILURE_MESSAGE, now=now)
    _record(transfer, row, "stopped", reason, actor, now)


def withdraw(
    transfer: Transfer[Row], row_id: str, *, reason: str, actor: Actor, now: datetime
) -> None:
    """Ask the network to give a row back before it is sent. Repeatable.

    Once the network has, it says so like anything else: the row fails by its message. Who asked is
    written down first, so that a withdrawal is never without a name. Raises NotWithdrawable,
    TooLateToWithdraw, WithdrawalUnanswered, ReasonNeeded.
    """
    reason = _checked(reason)
    with transaction.atomic(durable=True):  # a network is called after it
        row: Any = _locked(transfer, row_id)
        if _status(row) != transfer.taken_over_status:
            raise NotWithdrawable(f"It is {_status(row)}.")
        _audit(transfer, row, "withdrawal_asked", reason, actor, now)
    try:
        answer = registry.get(row.network).withdraw(row.pk, now=now)
    except (KeyError, NetworkUnavailable) as error:
        log.warning("withdrawal_unanswered", instruction_id=row.pk, error=str(error))
        raise WithdrawalUnanswered("Its network does not answer.") from error
    if answer is Withdrawal.TOO_LATE:
        raise TooLateToWithdraw("Its network has sent it.")


def held(rows: type[TransferRow]) -> QuerySet[TransferRow]:
    """Those of `rows` that staff hold now."""
    return rows._default_manager.filter(held_at__isnull=False)


def _locked(transfer: Transfer[Row], row_id: str) -> Row:
    """Raises ObjectDoesNotExist."""
    if (row := transfer.lock(row_id)) is None:
        raise ObjectDoesNotExist(row_id)
    return row


def _checked(reason: str) -> str:
    if not 1 <= len(reason := reason.strip()) <= REASON_LENGTH_MAX:
        raise ReasonNeeded(
            f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.", field="reason"
        )
    return reason


def _status(row: Any) -> str:
    return str(row.status)


def _change(row: TransferRow, now: datetime, **columns: Any) -> None:
    columns["updated_at"] = now
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=list(columns))


def _record(
    transfer: Transfer[Row], row: Any, what: str, reason: str, actor: Actor, now: datetime
) -> None:
    """Write to the audit log, and tell the tenant's people."""
    _audit(transfer, row, what, reason, actor, now)
    account = transfer.account(row)
    facts = {
        "tenant_name": tenants.tenant(row.tenant_id).name,
        "noun": transfer.noun,
        "what": what,
        "amount": row.amount,
        "bank_name": account.bank_name,
        "last4": account.last4,
        "reference": row.pk,
    }
    emails.queue_notice(tenant_id=row.tenant_id, template=MAIL, context=facts, now=now)


def _audit(
    transfer: Transfer[Row], row: Any, what: str, reason: str, actor: Actor, now: datetime
) -> None:
    """Write to the audit log: for staff with the reason, for the tenant's people without."""
    account = transfer.account(row)
    audit.record(
        tenant_id=row.tenant_id,
        actor=actor,
        action=f"{transfer.noun}.{what}",
        subject_id=row.pk,
        details={
            "amount": row.amount,
            "direction": transfer.direction,
            "bankName": account.bank_name,
            "last4": account.last4,
        },
        staff_note=reason,
        now=now,
    )
