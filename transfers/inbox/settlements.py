"""Settling by hand: the bank says what became of a transfer, and its message never comes.

One member of staff proposes it with the bank's reference, another one approves it. That makes a
message, which is applied like any other, by the rules of its row, and names who approved it
(decision 0119).
"""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeAlias

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from common.database.constraints import violated
from common.database_clock import database_now
from common.errors import StaffRefusal
from networks import registry
from networks.base import Custody, EventKind, NetworkUnavailable
from tenants.actors import Actor
from tenants.services import audit, second_person
from transfers import handlers
from transfers.contract import MessageHandler
from transfers.inbox import messages
from transfers.inbox.models import (
    MEANING,
    NOTE_LENGTH_MAX,
    BankOutcome,
    HandSettlement,
    InboundEvent,
    InboundOutcome,
    SettlementDecision,
)

_APPROVES = "network_inbox.approve_settlement"
_PROPOSES = "network_inbox.propose_settlement"
# What a proposal is in conflict with, as long as nobody has resolved it.
_ENDS = frozenset(outcome.event_kind for outcome in BankOutcome)
_Standing: TypeAlias = tuple[str, int]  # its status, and how often it was claimed
_MAY_LEAVE: MappingProxyType[Custody, str] = MappingProxyType(
    {
        Custody.OURS: "It has not left: withdraw it from its network instead.",
        Custody.LEAVING: (
            "It is in a file that its bank has not answered, so it may go, or go again. Look it up"
            " in Entries: take it out of its file, or write down what the bank says of the file."
        ),
    }
)


class SettlementRefused(StaffRefusal):
    code = "settlement_refused"
    title = "Not possible"
    advice = "Two people settle by hand, with the bank's reference, what no message contradicts."


def propose(
    *,
    subject_id: str,
    kind: BankOutcome,
    amount: int,
    bank_reference: str,
    code: str = "",
    reason: str,
    actor: Actor,
    now: datetime,
) -> HandSettlement:
    """Propose that a funding or payment is settled, rejected or returned, as the bank says.

    `amount` (cents) is typed from the bank's statement and has to be that of the row. `code` is the
    bank's reason for a rejection or return. Raises SettlementRefused.
    """
    handler = handlers.of(subject_id)
    if handler is None:
        raise SettlementRefused("There is no such funding or payment.", field="subject_id")
    terms = {
        "subject_id": subject_id,
        "kind": kind,
        "amount": amount,
        "bank_reference": _checked(bank_reference, 64, "bank_reference"),
        "code": code.strip()[:8],
        "reason": _checked(reason, NOTE_LENGTH_MAX, "reason"),
    }
    if (kind == BankOutcome.SETTLED) == bool(terms["code"]):
        raise SettlementRefused("A code belongs to a rejection or a return.", field="code")
    try:
        return _propose(handler, terms, actor, now)
    except IntegrityError as error:
        if violated(error) != "one_open_settlement_per_row":
            raise
        raise SettlementRefused("Somebody proposed to settle it already.") from error


@transaction.atomic
def _propose(
    handler: MessageHandler[Any], terms: dict[str, Any], actor: Actor, now: datetime
) -> HandSettlement:
    row = handler.lock(terms["subject_id"])
    if row is None:
        raise SettlementRefused("There is no such funding or payment.", field="subject_id")
    proposal = HandSettlement(
        tenant_id=row.tenant_id, proposed_by_id=actor.id, proposed_at=now, **terms
    )
    _require_possible(handler, row, proposal)
    proposal.save(force_insert=True)
    _audit("proposed", proposal, actor, proposal.reason, now)
    return proposal


def approve(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> InboundEvent:
    """Apply the proposal, once. Raises SettlementRefused if it is one's own, already decided,
    contradicted by a message that came since, or if the row may leave yet, and NotASecondPerson.

    Not inside a transaction: it asks the network.
    """
    subject_id = HandSettlement.objects.values_list("subject_id", flat=True).get(pk=proposal_id)
    asked = _require_left(subject_id)
    return _approve(proposal_id, asked=asked, note=note, actor=actor, now=now)


@transaction.atomic
def _approve(
    proposal_id: str, *, asked: _Standing, note: str, actor: Actor, now: datetime
) -> InboundEvent:
    proposal = _lock_for(proposal_id, actor)
    second_person.require(
        actor=actor,
        power=_APPROVES,
        proposed_by=proposal.proposed_by_id,
        proposed_at=proposal.proposed_at,
        proposes=_PROPOSES,
    )
    handler, row = _locked(proposal.subject_id)
    if _standing(row) != asked:
        raise SettlementRefused("It is being sent right now. Look again in a minute.")
    _require_possible(handler, row, proposal)
    event = InboundEvent.objects.create(
        network=row.network,
        event_id=f"by-hand-{proposal.pk}",
        instruction_id=proposal.subject_id,
        kind=BankOutcome(proposal.kind).event_kind,
        amount=proposal.amount,
        currency=row.currency,
        code=proposal.code,
        reason=f"by hand, bank reference {proposal.bank_reference}",
        reference=proposal.bank_reference,
        occurred_at=now,
        received_at=now,
        next_attempt_at=now,
        by_hand=actor.id,
    )
    if handler.is_unanswered(row):
        handler.take_over(row, event, now)
    messages.apply_to(handler, row, event, now)
    proposal.event = event
    _decide(proposal, SettlementDecision.APPROVED, note, actor, now)
    return event


@transaction.atomic
def reject(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> None:
    """Close the proposal; nothing moves. Raises SettlementRefused."""
    _decide(_lock_for(proposal_id, actor), SettlementDecision.REJECTED, note, actor, now)


def waiting() -> QuerySet[HandSettlement]:
    """Proposals that wait for a second person."""
    return HandSettlement.objects.filter(decision=SettlementDecision.OPEN)


def settled_by_hand() -> QuerySet[HandSettlement, Any]:
    """The ids of what was settled by hand, which the networks' books may not know."""
    approved = HandSettlement.objects.filter(decision=SettlementDecision.APPROVED)
    return approved.values("subject_id")


def _locked(subject_id: str) -> tuple[MessageHandler[Any], Any]:
    """The row with its handler, locked until the end of the transaction. Raises
    SettlementRefused."""
    handler = handlers.of(subject_id)
    row = handler.lock(subject_id) if handler else None
    if handler is None or row is None:
        raise SettlementRefused("There is no such funding or payment.")
    return handler, row


def _require_left(subject_id: str) -> _Standing:
    """Raises SettlementRefused for a row that its network may still send: its money would move
    after it was given back. A network that cannot be asked is why people settle by hand.

    Returns how the row was when the network was asked.
    """
    with transaction.atomic():
        _, row = _locked(subject_id)
    network = registry.find(row.network)
    try:
        may_leave = network.custody([subject_id]) if network else {}
    except NetworkUnavailable:
        may_leave = {}
    if subject_id in may_leave:
        raise SettlementRefused(_MAY_LEAVE[may_leave[subject_id]])
    return _standing(row)


def _standing(row: Any) -> _Standing:
    return row.status, row.lease_version


def _lock_for(proposal_id: str, actor: Actor) -> HandSettlement:
    """An open proposal of somebody else, locked. It is locked before the row it is about."""
    proposal = HandSettlement.objects.select_for_update(no_key=True).get(pk=proposal_id)
    if proposal.decision != SettlementDecision.OPEN:
        raise SettlementRefused(f"It was {proposal.decision}.")
    if proposal.proposed_by_id == actor.id:
        raise SettlementRefused("You proposed it, so somebody else decides.")
    return proposal


def _require_possible(handler: MessageHandler[Any], row: Any, proposal: HandSettlement) -> None:
    """Raises SettlementRefused if the proposal does not fit the row, which is locked."""
    kind = BankOutcome(proposal.kind).event_kind
    is_unanswered = handler.is_unanswered(row)
    if is_unanswered and row.leased_until is not None and row.leased_until > database_now():
        raise SettlementRefused("It is being sent right now. Look again in a minute.")
    if not is_unanswered and not handler.rules[kind].moves_from(row.status):
        raise SettlementRefused(f"It is {row.status}: nothing is to be {proposal.kind}.")
    if proposal.amount != row.amount:
        raise SettlementRefused("The amount is not that of the transfer.", field="amount")
    said = InboundEvent.objects.filter(instruction_id=proposal.subject_id).alias(meaning=MEANING)
    waiting = said.filter(outcome=InboundOutcome.NEW)
    if is_unanswered:  # what agrees waits for just this
        kinds = _agreeing(kind, waiting)
        waiting = waiting.exclude(meaning__in=kinds, amount=row.amount, currency=row.currency)
    if waiting.exists():
        raise SettlementRefused("A message of the network waits to be applied. Look again.")
    ends = said.filter(outcome=InboundOutcome.REVIEW, meaning__in=_ENDS)
    agreeing = ends.filter(meaning=kind, amount=row.amount, currency=row.currency)
    if (other := ends.exclude(pk__in=agreeing).first()) is not None:
        raise SettlementRefused(
            f"A message of the network says otherwise: {other.kind} {other.event_id}."
            " Settle that message first."
        )


def _agreeing(kind: EventKind, waiting: QuerySet[Any]) -> set[EventKind]:
    """The kinds of waiting messages that do not contradict the proposal, because they are applied
    or noted after it. A return counts if the settlement before it waits too: otherwise each would
    be refused because of the other."""
    agreeing = {kind, EventKind.ACCEPTED, EventKind.SETTLED}
    if kind == EventKind.FINAL and waiting.filter(meaning=kind).exists():
        agreeing.add(EventKind.RETURNED)
    return agreeing


def _decide(
    proposal: HandSettlement, decision: SettlementDecision, note: str, actor: Actor, now: datetime
) -> None:
    proposal.decision, proposal.decided_by_id, proposal.decided_at = decision, actor.id, now
    proposal.decision_note = _checked(note, NOTE_LENGTH_MAX, "reason")
    proposal.save(update_fields=("decision", "decided_by", "decided_at", "decision_note", "event"))
    _audit(str(decision), proposal, actor, proposal.decision_note, now)


def _checked(text: str, length_max: int, field: str) -> str:
    if not 1 <= len(text := text.strip()) <= length_max:
        raise SettlementRefused(f"1 to {length_max} characters are needed.", field=field)
    return text


def _audit(what: str, proposal: HandSettlement, actor: Actor, note: str, now: datetime) -> None:
    """Write to the part of the audit log that only staff read. The tenant sees the effect in its
    history."""
    audit.record(
        tenant_id=None,
        actor=actor,
        action=f"settlement.{what}",
        subject_id=proposal.pk,
        details={
            "tenantId": proposal.tenant_id,
            "about": proposal.subject_id,
            "kind": str(proposal.kind),
            "amount": proposal.amount,
            "bankReference": proposal.bank_reference,
        },
        staff_note=note,
        now=now,
    )
