"""What a client sees of funding: camelCase, UTC with microseconds, cents."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from approvals.api import approval_body
from common import clock
from common.days import start_of_day, start_of_month
from common.money import CURRENCY
from funding.methods import METHODS
from funding.models import Confirmation, FundingTransaction
from funding.services import limits
from funding.states import FundingStatus
from tenants.actors import Actor

_TIMESTAMPS = {
    "reservedAt": "reserved_at",
    "awaitingConfirmationAt": "awaiting_confirmation_at",
    "pendingAt": "pending_at",
    "inTransitAt": "in_transit_at",
    "completedAt": "completed_at",
    "failedAt": "failed_at",
}


def funding_transaction(funding: FundingTransaction) -> dict[str, Any]:
    """A funding transaction as the API shows it.

    The row has to come from `selectors` with its `balance_transaction_ids`.
    """
    is_waiting = funding.status == FundingStatus.AWAITING_CONFIRMATION
    return {
        "id": funding.pk,
        "amount": funding.amount,
        "currency": funding.currency,
        "status": str(funding.status),
        "fundingMethod": str(funding.method),
        "network": METHODS.carrier(funding.method, funding.network),
        "speed": funding.speed,
        "fundingSourceId": funding.source_id,
        "trigger": str(funding.trigger),
        "retryOf": funding.retry_of_id,
        "createdBy": {"type": str(funding.created_by_type), "id": funding.created_by_id or None},
        "description": funding.description or None,
        "metadata": funding.metadata,
        "requiresConfirmation": funding.requires_confirmation,
        "confirmationExpiresAt": _optional(funding.confirmation_expires_at) if is_waiting else None,
        "approval": approval_body(_approval(funding)),
        "expiresAt": _optional(funding.request_expires_at),
        "expectedAvailabilityDate": funding.promised_date and funding.promised_date.isoformat(),
        "statusTimestamps": {
            name: _optional(getattr(funding, column)) for name, column in _TIMESTAMPS.items()
        },
        "failureCode": funding.failure_code or None,
        "failureMessage": funding.failure_message or None,
        "returned": funding.returned,
        "returnCode": funding.return_code or None,
        "returnReason": funding.return_reason or None,
        "returnedAt": _optional(funding.returned_at),
        "traceNumber": funding.trace_number or None,
        "balanceTransactionIds": list(getattr(funding, "balance_transaction_ids", ())),
        "createdAt": clock.text_of(funding.created_at),
        "updatedAt": clock.text_of(funding.updated_at),
    }


def _approval(funding: FundingTransaction) -> Confirmation | None:
    """The approval of a funding, or None if it needs none. Costs a query where the caller did not
    select the approval with the funding."""
    return getattr(funding, "confirmation", None) if funding.requires_confirmation else None


CSV_HEADER = (
    "id",
    "createdAt",
    "amount",
    "currency",
    "status",
    "fundingMethod",
    "fundingSourceId",
    "trigger",
    "description",
    "expectedAvailabilityDate",
    "completedAt",
    "failedAt",
    "failureCode",
    "returnCode",
    "traceNumber",
    "network",
)


def csv_row(funding: FundingTransaction) -> list[str | int | None]:
    """One line of the CSV file."""
    shown = funding_transaction(funding)
    shown |= shown["statusTimestamps"]
    return [shown[name] for name in CSV_HEADER]


def funding_limits(tenant_id: str, mode: str, _actor: Actor, now: datetime) -> dict[str, Any]:
    """Funding's part of `/balance/limits`: the limits in force and how much of them is
    used. Cents."""
    in_force, usage = limits.of(tenant_id), limits.usage(tenant_id=tenant_id, now=now)
    tomorrow = start_of_day(start_of_day(now) + timedelta(hours=36))
    next_month = start_of_month(start_of_month(now) + timedelta(days=32))
    return {
        "currency": CURRENCY,
        "perTransaction": {
            str(method.name): in_force.per_transaction[method.name]
            for method in METHODS.of_mode(mode)
        },
        "daily": _allowance(in_force.daily, usage.today, tomorrow),
        "monthly": _allowance(in_force.monthly, usage.this_month, next_month),
    }


def _allowance(limit: int | None, used: int, resets_at: datetime) -> dict[str, Any]:
    return {
        "limit": limit,
        "used": used,
        "remaining": None if limit is None else max(0, limit - used),
        "resetsAt": clock.text_of(resets_at),
    }


def _optional(moment: datetime | None) -> str | None:
    return clock.text_of(moment) if moment else None
