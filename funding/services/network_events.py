"""What the networks tell us: stored first, applied second, each message at most once.

A message that cannot be right (another amount, a status that does not allow it) changes nothing
and is kept for review. One that comes too early (the submission's own result is not recorded yet)
waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from funding.models import FundingTransaction, InboundEvent, InboundOutcome
from funding.services import lifecycle, sources
from funding.states import FundingStatus
from networks import registry, return_codes
from networks.base import EventKind, NetworkEvent, PaymentNetwork
from tenants import actors

log = structlog.get_logger(__name__)

ID_PREFIX = "ftx_"
WAITS_AT_MOST = timedelta(hours=1)
_POLL_BATCH = 500

S = FundingStatus


@dataclass(frozen=True)
class _Rule:
    """From which statuses a kind of message moves a funding, and from which it is too early."""

    target: FundingStatus
    applies_to: frozenset[FundingStatus]
    too_early_in: frozenset[FundingStatus]


_RULES = {
    EventKind.ACCEPTED: _Rule(S.IN_TRANSIT, frozenset({S.PENDING}), frozenset({S.RESERVED})),
    EventKind.SETTLED: _Rule(
        S.COMPLETED, frozenset({S.IN_TRANSIT}), frozenset({S.RESERVED, S.PENDING})
    ),
    EventKind.REJECTED: _Rule(
        S.FAILED, frozenset({S.PENDING, S.IN_TRANSIT}), frozenset({S.RESERVED})
    ),
    EventKind.RETURNED: _Rule(
        S.FAILED, frozenset({S.IN_TRANSIT, S.COMPLETED}), frozenset({S.RESERVED, S.PENDING})
    ),
}


def process(*, now: datetime) -> int:
    """Collect and apply everything the networks have; returns how many messages were applied."""
    for network in registry.active():
        collect(network=network, now=now)
    return apply_new(now=now)


def collect(*, network: PaymentNetwork, now: datetime) -> int:
    """Store the network's new messages, then acknowledge them; returns how many it gave.

    A crash in between only brings the same messages again, and they are stored once.
    """
    events = network.poll(now=now, limit=_POLL_BATCH, id_prefix=ID_PREFIX)
    InboundEvent.objects.bulk_create(
        [_stored(event, now) for event in events], ignore_conflicts=True
    )
    network.acknowledge(event.id for event in events)
    return len(events)


def apply_new(*, now: datetime, limit: int = 1000) -> int:
    """Apply stored messages in the order of arrival, each in a transaction of its own."""
    waiting = InboundEvent.objects.filter(outcome=InboundOutcome.NEW)
    ids = waiting.order_by("pk").values_list("pk", flat=True)[:limit]
    return sum(_apply_safely(event_id, now) for event_id in list(ids))


def _apply_safely(event_id: int, now: datetime) -> bool:
    """One message we cannot digest must not hold up the others."""
    try:
        return apply(event_id=event_id, now=now)
    except Exception:
        log.exception("network_event_failed", event_id=event_id)
        return False


@transaction.atomic
def apply(*, event_id: int, now: datetime) -> bool:
    """Apply one stored message; True when it moved a funding."""
    event = (
        InboundEvent.objects.select_for_update(skip_locked=True)
        .filter(pk=event_id, outcome=InboundOutcome.NEW)
        .first()
    )
    if event is None:  # another worker has it
        return False
    funding = (
        FundingTransaction.objects.select_for_update(no_key=True, of=("self",))
        .select_related("source")
        .filter(pk=event.instruction_id)
        .first()
    )
    if (objection := _objection(event, funding)) or funding is None:
        return _close(event, InboundOutcome.REVIEW, objection, now)
    rule = _RULES[EventKind(event.kind)]
    is_early = funding.status in rule.too_early_in or _has_predecessor(event, funding.status)
    if is_early and now - event.received_at < WAITS_AT_MOST:
        return False
    if funding.status not in rule.applies_to:
        return _close(event, InboundOutcome.REVIEW, f"funding is {funding.status}", now)
    _move(funding, event, rule, now)
    return _close(event, InboundOutcome.APPLIED, "", now)


def _has_predecessor(event: InboundEvent, status: str) -> bool:
    """Whether an older message would move the funding now: another worker has it in hand.

    A settlement and the return after it both apply to `in_transit`; only order tells which first.
    """
    applicable = [kind for kind, rule in _RULES.items() if status in rule.applies_to]
    older = InboundEvent.objects.filter(instruction_id=event.instruction_id, pk__lt=event.pk)
    return older.filter(outcome=InboundOutcome.NEW, kind__in=applicable).exists()


def _objection(event: InboundEvent, funding: FundingTransaction | None) -> str:
    """Why the message cannot be about this funding, or an empty string."""
    if funding is None:
        return "no such funding"
    if event.network != funding.network:
        return "another network's funding"
    if (event.amount, event.currency) != (funding.amount, funding.currency):
        return "another amount or currency"
    return ""


def _move(funding: FundingTransaction, event: InboundEvent, rule: _Rule, now: datetime) -> None:
    lifecycle.move(
        funding=funding,
        target=rule.target,
        actor=actors.network(event.network),
        now=now,
        reason=event.reason,
        **_details(event, now),
    )
    if event.kind == EventKind.RETURNED:
        sources.note_return(source=funding.source, return_code=event.code, now=now)


def _details(event: InboundEvent, now: datetime) -> dict[str, object]:
    """The columns that a failing message fills, in the words of the return-code table."""
    if event.kind not in {EventKind.REJECTED, EventKind.RETURNED}:
        return {}
    known = return_codes.lookup(event.code)
    failure: dict[str, object] = {
        "failure_code": event.code,
        "failure_message": f"{known.meaning} {known.advice}"[:300],
    }
    if event.kind == EventKind.RETURNED:
        failure |= {
            "returned": True,
            "return_code": event.code,
            "return_reason": known.title,
            "returned_at": now,
        }
    return failure


def _close(event: InboundEvent, outcome: InboundOutcome, note: str, now: datetime) -> bool:
    event.outcome, event.note, event.decided_at = outcome, note[:200], now
    event.save(update_fields=("outcome", "note", "decided_at"))
    if outcome == InboundOutcome.REVIEW:
        log.warning("network_event_for_review", event_id=event.pk, note=note)
    return outcome == InboundOutcome.APPLIED


def _stored(event: NetworkEvent, now: datetime) -> InboundEvent:
    return InboundEvent(
        network=event.network,
        event_id=event.id,
        instruction_id=event.instruction_id,
        kind=event.kind,
        amount=event.amount,
        currency=event.currency,
        code=event.code,
        reason=event.reason[:300],
        reference=event.reference,
        occurred_at=event.occurred_at,
        received_at=now,
    )
