"""What a client sees of payments: camelCase, UTC with microseconds, cents, no account number."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from api.bank_accounts import bank_account
from approvals.api import approval_body
from common import clock
from payments import attempts, automatic, selectors
from payments.attempts import Attempt
from payments.methods import METHODS
from payments.models import AUTO, Payment, PaymentConfirmation, Recipient
from payments.services import approvals, limits
from payments.services.limits import Standing
from payments.states import PaymentStatus
from tenants.actors import Actor

_TIMESTAMPS = {
    "waitingForFundsAt": "waiting_for_funds_at",
    "createdAt": "locked_at",
    "processingAt": "processing_at",
    "completedAt": "completed_at",
    "failedAt": "failed_at",
    "returnedAt": "returned_at",
    "canceledAt": "canceled_at",
}


def payment(row: Payment) -> dict[str, Any]:
    """A payment as the API shows it.

    The row comes from `selectors.payments` or was just made.
    """
    is_waiting = row.status == PaymentStatus.WAITING_FOR_FUNDS
    awaits = row.awaits_confirmation
    return {
        "id": row.pk,
        "amount": row.amount,
        "currency": row.currency,
        "status": str(row.status),
        "method": row.method_asked,
        "methodUsed": str(row.method),
        "network": METHODS.carrier(row.method, row.network),
        "attempts": [_attempt(each) for each in attempts.of(row)],
        "speed": row.speed,
        "recipient": bank_account(row.recipient),
        "recipientId": row.recipient_id if row.recipient.is_saved else None,
        "createdBy": {"type": str(row.created_by_type), "id": row.created_by_id or None},
        "description": row.description or None,
        "metadata": row.metadata,
        "waitForFunds": row.waits_until is not None,
        "waitsUntil": _optional(row.waits_until) if is_waiting else None,
        "requiresConfirmation": row.needs_approval,
        "confirmationExpiresAt": _optional(row.confirmation_expires_at) if awaits else None,
        "confirmedAt": _optional(row.confirmed_at),
        "approval": approval_body(_approval(row)),
        "onHold": row.held_at is not None,
        "heldBackAt": _optional(row.held_back_at),
        "expectedArrivalDate": row.promised_date and row.promised_date.isoformat(),
        "statusTimestamps": {
            name: _optional(getattr(row, column)) for name, column in _TIMESTAMPS.items()
        },
        "failureCode": row.failure_code or None,
        "failureMessage": row.failure_message or None,
        "returned": row.returned,
        "returnCode": row.return_code or None,
        "returnReason": row.return_reason or None,
        "returnedAt": _optional(row.returned_at),
        "traceNumber": row.trace_number or None,
        "balanceTransactionIds": row.balance_transaction_ids,
        "createdAt": clock.text_of(row.created_at),
        "updatedAt": clock.text_of(row.updated_at),
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "method": attempt.method,
        "network": attempt.network,
        "outcome": str(attempt.outcome),
        "code": attempt.code or None,
        "startedAt": _optional(attempt.started_at),
        "endedAt": _optional(attempt.ended_at),
    }


def _approval(row: Payment) -> PaymentConfirmation | None:
    """The approval of a payment, or None if it needs none. Costs a query where the caller did not
    select the approval with the payment."""
    if not row.needs_approval:
        return None
    if hasattr(row, "approval"):
        selected: PaymentConfirmation | None = row.approval
        return selected
    return selectors.approvals(row).last()


CSV_HEADER = (
    "id",
    "createdAt",
    "amount",
    "currency",
    "status",
    "method",
    "recipientId",
    "accountHolderName",
    "bankName",
    "last4",
    "description",
    "expectedArrivalDate",
    "completedAt",
    "failedAt",
    "failureCode",
    "returnCode",
    "traceNumber",
    "network",
    "methodUsed",
)


def csv_row(row: Payment) -> list[str | int | None]:
    """One line of the CSV file."""
    shown = payment(row)
    # Not the `createdAt` of the timestamps, which is when the money was set aside.
    shown = {**shown["statusTimestamps"], **shown["recipient"], **shown}
    return [shown[name] for name in CSV_HEADER]


def recipient(row: Recipient) -> dict[str, Any]:
    """A saved recipient as the API shows it."""
    return {
        "id": row.pk,
        **bank_account(row),
        "nickname": row.nickname or None,
        "createdAt": clock.text_of(row.created_at),
        "removedAt": _optional(row.removed_at),
    }


def removal(row: Recipient) -> dict[str, Any]:
    """The answer to a removal."""
    return {"id": row.pk, "removedAt": _optional(row.removed_at)}


def payment_limits(tenant_id: str, mode: str, actor: Actor, now: datetime) -> dict[str, Any]:
    """Payments' part of `/balance/limits`. Cents."""
    return {
        "payments": {
            "perTransaction": _per_transaction(mode),
            "approvalThreshold": approvals.threshold_for(
                tenant_id=tenant_id, mode=mode, actor=actor, now=now
            ),
            "rolling": [
                _standing(each)
                for each in limits.standings(tenant_id=tenant_id, mode=mode, actor=actor, now=now)
            ],
        }
    }


def _per_transaction(mode: str) -> dict[str, int]:
    """By what may be asked for."""
    by_method = {str(method.name): method.amount_max(mode) for method in METHODS.of_mode(mode)}
    if automatic.is_a_choice(mode):
        by_method[AUTO] = automatic.amount_max(mode)
    return by_method


def _standing(limit: Standing) -> dict[str, Any]:
    """One limit in any 24 hours or 30 days. What is used of it is null where it counts for each
    recipient, or where no person or no key asks."""
    used = limit.used
    return {
        "scope": str(limit.scope),
        "window": str(limit.window),
        "amount": _allowance(limit.cap.amount, used and used.amount),
        "payments": _allowance(limit.cap.payments, used and used.payments),
        "freesAt": _optional(limit.frees_at),
    }


def _allowance(most: int | None, used: int | None) -> dict[str, int | None]:
    left = None if most is None or used is None else max(0, most - used)
    return {"limit": most, "used": used, "remaining": left}


def _optional(moment: datetime | None) -> str | None:
    return clock.text_of(moment) if moment else None
