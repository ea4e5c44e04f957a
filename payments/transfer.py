"""Money out, step by step, from the sweep that finds a payment with its money set aside to a return
after it arrived.

`transfers` calls these methods in their order; `services.lifecycle` changes the status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

from balance.operator.posting import Booking
from common.engine.wakeups import enqueue_on_commit
from networks.base import Accepted, EventKind, InstructionRefused, Purpose
from payments.methods import METHODS
from payments.models import Payment
from payments.services import approvals, lifecycle, rerouting, shortage
from payments.services.corrections import RECIPIENTS
from payments.states import PaymentStatus
from tenants import actors
from tenants.actors import Actor
from tenants.switches import SwitchKind
from transfers import holds
from transfers.books import Happened
from transfers.contract import Effect, Rule, Transfer
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent

S = PaymentStatus

_UNSENT = frozenset({S.CREATED})  # the answer to the submission is not recorded yet
# What the network of a refused try may still say: nothing new.
_SAID_OF_REFUSED = frozenset({EventKind.ACCEPTED, EventKind.REJECTED})
_MAY_BE_PAID = "{network} refused it, and now says {says}: it may be paid already. Ask there first."
# What the banks say to each other about a return moves nothing, once the return is applied.
DISPUTE = Rule(
    moves={S.FAILED: S.FAILED, S.RETURNED: S.RETURNED},
    too_early_in=_UNSENT | {S.PROCESSING, S.COMPLETED},
)
RULES = MappingProxyType(
    {
        EventKind.ACCEPTED: Rule(moves={S.PROCESSING: S.PROCESSING}, too_early_in=_UNSENT),
        EventKind.SETTLED: Rule(
            moves={S.PROCESSING: S.PROCESSING, S.COMPLETED: S.COMPLETED}, too_early_in=_UNSENT
        ),
        EventKind.FINAL: Rule(moves={S.PROCESSING: S.COMPLETED}, too_early_in=_UNSENT),
        EventKind.REJECTED: Rule(moves={S.PROCESSING: S.FAILED}, too_early_in=_UNSENT),
        EventKind.RETURNED: Rule(
            moves={S.PROCESSING: S.FAILED, S.COMPLETED: S.RETURNED}, too_early_in=_UNSENT
        ),
        EventKind.RESCHEDULED: Rule(
            moves={each: each for each in (S.PROCESSING, S.COMPLETED, S.FAILED, S.RETURNED)},
            too_early_in=_UNSENT,
        ),
        EventKind.RETURN_DISHONORED: DISPUTE,
        EventKind.RETURN_CONTESTED: DISPUTE,
    }
)


class PaymentTransfer(Transfer[Payment]):
    """A payment on its way through a network: what is sent, and what is done with the answers."""

    id_prefix = "pay_"
    noun = "payment"
    direction = "out"
    purpose = Purpose.PAYMENT
    model = Payment
    due_status = S.CREATED
    taken_over_status = S.PROCESSING
    stopped_by = SwitchKind.PAYMENTS
    account_field = "recipient"
    accounts = RECIPIENTS
    methods = METHODS
    rules = RULES
    expected_field = "expected_arrival_date"

    # --- It is due, and is handed to its network

    def short(self, rows: Sequence[Payment]) -> Mapping[str, bool]:
        return shortage.among(rows)

    def keep_back(self, row: Payment, now: datetime) -> bool:
        return shortage.keep_back(row, now)

    def accepted(self, row: Payment, receipt: Accepted, now: datetime) -> None:
        self.accepted_together([(row, receipt)], now)

    def accepted_together(self, answers: Iterable[tuple[Payment, Accepted]], now: datetime) -> None:
        moves = [
            lifecycle.Move(
                payment=row,
                target=S.PROCESSING,
                actor=actors.network(row.network),
                changes={
                    "network_reference": receipt.reference,
                    "trace_number": receipt.trace_number,
                },
            )
            for row, receipt in answers
        ]
        lifecycle.move_many(moves, now=now)

    def refused(self, row: Payment, refusal: InstructionRefused, now: datetime) -> None:
        if way := rerouting.next_way(row, refusal.code):
            rerouting.go_on(
                row,
                way,
                code=refusal.code,
                reason=refusal.reason,
                actor=actors.network(row.network),
                now=now,
            )
            return
        lifecycle.move(
            payment=row,
            target=S.FAILED,
            actor=actors.network(row.network),
            now=now,
            reason=refusal.reason,
            failure_code=refusal.code,
            failure_message=refusal.reason[:300],
        )

    # --- The network reports on it

    def apply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Move to completed, failed or returned, as the messages say. An automatic payment that
        was rejected may go another way instead."""
        ways = {
            row.pk: way
            for row, _, event in effects
            if event.says == EventKind.REJECTED and not event.by_hand
            if (way := rerouting.next_way(row, event.code))
        }
        moves = [
            lifecycle.Move(
                payment=row,
                target=S(target),
                actor=messages.actor_of(event),
                reason=event.reason,
                changes=messages.columns_of(event, now=now),
                day=event.settlement_date,
            )
            for row, target, event in effects
            if row.pk not in ways
        ]
        lifecycle.move_many(moves, now=now)
        for row, _, event in effects:
            if row.pk in ways:
                rerouting.go_on(
                    row,
                    ways[row.pk],
                    code=event.code,
                    reason=event.reason,
                    actor=messages.actor_of(event),
                    now=now,
                )

    def repeats(self, row: Payment, event: InboundEvent) -> bool:
        is_old = row.tries > 1 and event.network != row.network
        is_harmless = event.says in _SAID_OF_REFUSED
        is_its_money = (event.amount, event.currency) == (row.amount, row.currency)
        if not (is_old and is_harmless and is_its_money):
            return False
        return row.refused_tries.filter(network=event.network).exists()

    def contradicted(self, row: Payment, event: InboundEvent, now: datetime) -> None:
        """Keep an automatic payment with us that another network had refused, if that one says
        otherwise now: it may be paid already."""
        is_old = row.tries > 1 and event.network != row.network
        if not is_old or not row.is_unsent or row.held_at is not None:
            return
        if row.refused_tries.filter(network=event.network).exists():
            reason = _MAY_BE_PAID.format(network=event.network, says=event.says.replace("_", " "))
            actor = actors.network(event.network)
            holds.hold(self, row.pk, reason=reason, actor=actor, now=now)

    def booked(self, row: Payment, happened: Happened, day: date | None) -> list[Booking]:
        return lifecycle.bookings(row, happened, day)

    def knows(self, row: Payment, kind: EventKind) -> bool:
        return kind == EventKind.ACCEPTED and row.completed_at is not None

    # --- Staff hold it before it leaves

    def end(self, row: Payment, *, actor: Actor, code: str, message: str, now: datetime) -> None:
        """Fail it. Its money becomes available again."""
        approvals.supersede(payment=row, by=actor, now=now)
        lifecycle.move(
            payment=row,
            target=S.FAILED,
            actor=actor,
            now=now,
            reason=message,
            failure_code=code,
            failure_message=message,
        )

    def on_release(self, row: Payment, now: datetime) -> Mapping[str, Any]:
        """Give a payment that waits for money the time back in which it was held."""
        if row.status != S.WAITING_FOR_FUNDS:
            enqueue_on_commit("payments.submit_due")
            is_due = row.next_attempt_at is not None
            return lifecycle.sending(lifecycle.way_of(row), now) if is_due else {}
        enqueue_on_commit("payments.run_waiting", tenant_id=row.tenant_id)
        if row.waits_until is None or row.held_at is None:
            raise ValueError(f"{row.pk} is not held while it waits")
        return {"waits_until": row.waits_until + (now - row.held_at)}


PAYMENTS = PaymentTransfer()
