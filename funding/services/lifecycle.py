"""The life of a funding transaction: the only code that changes its status.

A move is one database transaction: status by compare-and-swap, history row, pending balance and
posting, event to the tenant. Lock order: the funding row first, the balance row last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Model

from balance import services as ledger
from common import ids
from common.engine import sql
from common.engine.transactions import before_commit
from common.engine.wakeups import enqueue_on_commit
from funding.methods import METHODS
from funding.models import (
    SOURCE_TYPE,
    FundingEvent,
    FundingMethod,
    FundingTransaction,
    Trigger,
)
from funding.states import FUNDING_STATES, IN_FLIGHT, FundingStatus
from tenants.actors import Actor
from transfers.inbox import messages
from transfers.rows import HOLD_ENDS
from webhooks.bodies import PaymentData
from webhooks.services import events

_EVENT_OF = {
    FundingStatus.PENDING: "payment.processing",
    FundingStatus.COMPLETED: "payment.completed",
    FundingStatus.FAILED: "payment.failed",
}


@dataclass(frozen=True, kw_only=True)
class TopUp:
    """What is asked for. `amount` is cents; `id` will be that of the funding."""

    source_id: str
    amount: int
    method: str = FundingMethod.ACH_DEBIT
    description: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    trigger: Trigger = Trigger.TOPUP
    id: str = field(default_factory=partial(ids.new, "ftx"))


def start(
    topup: TopUp,
    *,
    tenant_id: str,
    network: str,
    confirm_until: datetime | None,
    actor: Actor,
    now: datetime,
) -> FundingTransaction:
    """Create a funding that was checked, in the caller's transaction: `reserved`, or
    `awaiting_confirmation` when `confirm_until` is set. Its amount counts as pending once the
    transaction ends."""
    waits = confirm_until is not None
    status = FundingStatus.AWAITING_CONFIRMATION if waits else FundingStatus.RESERVED
    funding = FundingTransaction(
        id=topup.id,
        tenant_id=tenant_id,
        source_id=topup.source_id,
        amount=topup.amount,
        status=status,
        method=topup.method,
        trigger=topup.trigger,
        created_by_type=actor.type,
        created_by_id=actor.id,
        description=topup.description,
        metadata=topup.metadata,
        requires_confirmation=waits,
        confirmation_expires_at=confirm_until,
        expected_availability_date=METHODS[topup.method].expected_on(network, now),
        network=network,
        next_attempt_at=None if waits else now,
        history_length=1,
        event_sequence=1,
        created_at=now,
        updated_at=now,
        **{f"{status}_at": now},
    )
    history = _history(funding, from_status="", actor=actor, reason="", now=now)
    _publish(funding, "payment.created", now, rows=(funding, history))
    before_commit(partial(ledger.change_pending, tenant_id=funding.tenant_id, delta=funding.amount))
    if not waits:
        enqueue_on_commit("funding.submit_due")
    return funding


@transaction.atomic
def move(
    *,
    funding: FundingTransaction,
    target: FundingStatus,
    actor: Actor,
    now: datetime,
    reason: str = "",
    **changes: Any,
) -> None:
    """Take `funding` to `target` with everything that goes with it.

    Raises IllegalTransition, and changes nothing, when its status is no longer what was read or
    the machine has no such move.
    """
    source = FundingStatus(funding.status)
    event = "payment.returned" if changes.get("returned") else _EVENT_OF.get(target)
    FUNDING_STATES.advance(
        funding,
        target,
        history_length=funding.history_length + 1,
        event_sequence=funding.event_sequence + (event is not None),
        updated_at=now,
        **{f"{target}_at": now},
        **_entry(funding, target, now),
        **changes,
    )
    history = _history(funding, from_status=source, actor=actor, reason=reason, now=now)
    if event is None:
        sql.insert(history)
    else:
        _publish(funding, event, now, rows=(history,))
    messages.look_again(funding.pk, now=now)
    _post(funding, source=source, now=now)


def _entry(funding: FundingTransaction, target: FundingStatus, now: datetime) -> dict[str, Any]:
    """The columns that a funding gets when it enters `target`."""
    if target == FundingStatus.FAILED:
        return dict(HOLD_ENDS)
    if target == FundingStatus.PENDING:
        # Switches and outages may have delayed it for days.
        expected_on = METHODS[funding.method].expected_on(funding.network, now)
        return {"expected_availability_date": expected_on}
    return {}


def _history(
    funding: FundingTransaction, *, from_status: str, actor: Actor, reason: str, now: datetime
) -> FundingEvent:
    return FundingEvent(
        funding_id=funding.pk,
        sequence=funding.history_length,
        from_status=from_status,
        to_status=funding.status,
        actor_type=actor.type,
        actor_id=actor.id,
        reason=reason[:300],
        network_reference=funding.network_reference,
        account_id=funding.source_id,
        created_at=now,
    )


def _publish(
    funding: FundingTransaction, event: str, now: datetime, *, rows: Sequence[Model]
) -> None:
    events.publish_payment(
        tenant_id=funding.tenant_id,
        type=event,
        data=PaymentData(
            payment_id=funding.pk,
            amount=funding.amount,
            status=funding.status,
            currency=funding.currency,
            direction="in",
            sequence=funding.event_sequence,
            failure_code=funding.failure_code or None,
            return_code=funding.return_code or None,
        ),
        now=now,
        rows=rows,
    )


def _post(funding: FundingTransaction, *, source: FundingStatus, now: datetime) -> None:
    """Change the balance as the move demands. Last in the transaction, because many wait for the
    balance row."""
    posting: ledger.PostingArguments = {
        "tenant_id": funding.tenant_id,
        "amount": funding.amount,
        "source_type": SOURCE_TYPE,
        "source_id": funding.pk,
        "description": "Funding completed",
        "now": now,
    }
    if funding.status == FundingStatus.COMPLETED:
        posting["pending_delta"] = -funding.amount
        ledger.credit(**posting)
    elif source == FundingStatus.COMPLETED:
        posting["description"] = f"Funding returned {funding.return_code}"
        ledger.debit(**posting)
    elif funding.status == FundingStatus.FAILED and source in IN_FLIGHT:
        ledger.change_pending(tenant_id=funding.tenant_id, delta=-funding.amount)
    if funding.trigger == Trigger.AUTO_FUNDING and funding.status not in IN_FLIGHT:
        ledger.look_at_low_again(tenant_id=funding.tenant_id, now=now)
