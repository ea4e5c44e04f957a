"""Money in, step by step, from the sweep that finds a reserved funding to a late return.

`transfers` calls these methods in their order; `services.lifecycle` changes the status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings

from balance.operator.posting import Booking
from common import leases
from common.engine.wakeups import enqueue_on_commit
from common.errors import RuleViolation
from funding.methods import METHODS
from funding.models import AuthorizationKind, FundingTransaction, Trigger
from funding.services import (
    approvals,
    authorization_checks,
    auto_funding,
    lifecycle,
    notices,
    sources,
)
from funding.services.corrections import SOURCES
from funding.states import FundingStatus
from networks import calendar
from networks.base import (
    INDIVIDUAL_ID_LENGTH,
    Accepted,
    Authorization,
    EventKind,
    HolderType,
    Instruction,
    InstructionRefused,
    Method,
    Purpose,
)
from tenants import actors
from tenants.actors import Actor
from tenants.switches import SwitchKind
from transfers.books import Happened
from transfers.contract import Effect, Rule, Transfer
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent
from transfers.submission import RETRY_AFTER

S = FundingStatus

# What the banks say to each other about a return moves nothing, once the return is applied.
DISPUTE = Rule(
    moves={S.FAILED: S.FAILED},
    too_early_in=frozenset({S.RESERVED, S.PENDING, S.IN_TRANSIT, S.COMPLETED}),
)
RULES = MappingProxyType(
    {
        EventKind.ACCEPTED: Rule(
            moves={S.PENDING: S.IN_TRANSIT},
            too_early_in=frozenset({S.RESERVED}),
        ),
        EventKind.SETTLED: Rule(
            moves={S.IN_TRANSIT: S.IN_TRANSIT, S.COMPLETED: S.COMPLETED},
            too_early_in=frozenset({S.RESERVED}),
            implies={S.PENDING: S.IN_TRANSIT},
        ),
        EventKind.FINAL: Rule(
            moves={S.IN_TRANSIT: S.COMPLETED},
            too_early_in=frozenset({S.RESERVED}),
            implies={S.PENDING: S.IN_TRANSIT},
        ),
        EventKind.REJECTED: Rule(
            moves={S.PENDING: S.FAILED, S.IN_TRANSIT: S.FAILED},
            too_early_in=frozenset({S.RESERVED}),
        ),
        EventKind.RETURNED: Rule(
            moves={S.IN_TRANSIT: S.FAILED, S.COMPLETED: S.FAILED},
            too_early_in=frozenset({S.RESERVED}),
            implies={S.PENDING: S.IN_TRANSIT},
        ),
        EventKind.RESCHEDULED: Rule(
            moves={each: each for each in (S.PENDING, S.IN_TRANSIT, S.COMPLETED, S.FAILED)},
            too_early_in=frozenset({S.RESERVED}),
        ),
        EventKind.RETURN_DISHONORED: DISPUTE,
        EventKind.RETURN_CONTESTED: DISPUTE,
    }
)


class FundingTransfer(Transfer[FundingTransaction]):
    """A funding transaction on its way through a network: what is sent, and what is done with the
    answers."""

    id_prefix = "ftx_"
    noun = "funding"
    direction = "in"
    purpose = Purpose.TOPUP
    model = FundingTransaction
    due_status = S.RESERVED
    taken_over_status = S.PENDING
    stopped_by = SwitchKind.FUNDING
    account_field = "source"
    accounts = SOURCES
    methods = METHODS
    rules = RULES
    expected_field = "expected_availability_date"

    # --- It is due, and is handed to its network

    def fixed_when_sent(self, row: FundingTransaction, now: datetime) -> Mapping[str, Any]:
        """The account holder has the whole time to approve it, however long it waited here."""
        if METHODS[row.method].network_method != Method.RTP_REQUEST:
            return {}
        return {"request_expires_at": now + timedelta(hours=settings.REQUEST_FOR_PAYMENT_HOURS)}

    def expires_at(self, row: FundingTransaction) -> datetime | None:
        return row.request_expires_at

    def refresh(self, rows: Sequence[FundingTransaction], now: datetime) -> None:
        """The bank accounts and the authorizations to debit them: the rows were claimed before."""
        sources.read_again(rows)
        authorization_checks.look_again(rows, now=now)

    def require_sendable(self, row: FundingTransaction) -> None:
        """Raises InstructionRefused where the bank has ended the account, or the authorization to
        debit it, since this was reserved, or the holder has revoked it."""
        try:
            sources.require_debitable(source=row.source, method=row.method)
            authorization_checks.require_in_force(row)
        except RuleViolation as refusal:
            raise InstructionRefused(code=refusal.code, reason=refusal.detail) from refusal

    def instruction(self, row: FundingTransaction) -> Instruction:
        """A retry is the first debit once more, under the id that the account holder knows."""
        told = super().instruction(row)
        if row.retry_of_id is None:
            return told
        return replace(
            told,
            purpose=Purpose.RETRY,
            original_id=row.retry_of_id,
            individual_id=row.retry_of_id[-INDIVIDUAL_ID_LENGTH:].upper(),
        )

    def authorization(self, row: FundingTransaction) -> Authorization | None:
        """A business agreed to all debits; an individual to this one, or to those of a rule, as
        the record says. The sandbox needs no record, and goes by what asked for the money."""
        if row.source.account_holder_type == HolderType.BUSINESS:
            return Authorization.CORPORATE
        is_by_rule = row.trigger == Trigger.AUTO_FUNDING
        if row.authorized_as:
            is_by_rule = row.authorized_as == AuthorizationKind.RECURRING
        return Authorization.WEB_RECURRING if is_by_rule else Authorization.WEB_SINGLE

    def accepted(self, row: FundingTransaction, receipt: Accepted, now: datetime) -> None:
        self.accepted_together([(row, receipt)], now)

    def accepted_together(
        self, answers: Iterable[tuple[FundingTransaction, Accepted]], now: datetime
    ) -> None:
        moves = [
            lifecycle.Move(
                funding=row,
                target=S.PENDING,
                actor=actors.network(row.network),
                changes={
                    "network_reference": receipt.reference,
                    "trace_number": receipt.trace_number,
                },
            )
            for row, receipt in answers
        ]
        lifecycle.move_many(moves, now=now)

    def refused(self, row: FundingTransaction, refusal: InstructionRefused, now: datetime) -> None:
        sources.note_rejection(source=row.source, code=refusal.code, now=now)
        lifecycle.move(
            funding=row,
            target=S.FAILED,
            actor=actors.network(row.network),
            now=now,
            reason=refusal.reason,
            failure_code=refusal.code,
            failure_message=refusal.reason[:300],
        )
        auto_funding.after_outcomes([row], now=now)

    # --- The network reports on it

    def imply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Make the steps that no message reported, because later messages imply them."""
        moves = [
            lifecycle.Move(
                funding=row,
                target=S(target),
                actor=messages.actor_of(event),
                reason=f"implied by {event.kind}",
            )
            for row, target, event in effects
        ]
        lifecycle.move_many(moves, now=now)

    def apply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Move to in transit, completed, failed or returned, as the messages say."""
        # Before the moves, which take the balance rows: a removal locks the source first, then the
        # balance.
        for row, _, event in effects:
            if event.kind == EventKind.RETURNED:
                sources.note_return(source=row.source, return_code=event.code, now=now)
            elif event.kind == EventKind.REJECTED:
                sources.note_rejection(source=row.source, code=event.code, now=now)
        moves = [
            lifecycle.Move(
                funding=row,
                target=S(target),
                actor=messages.actor_of(event),
                reason=event.reason,
                changes=messages.columns_of(event, now=now),
                day=event.settlement_date,
            )
            for row, target, event in effects
        ]
        lifecycle.move_many(moves, now=now)
        rows = [row for row, _, _ in effects]
        for row in rows:
            if row.returned:
                notices.returned(funding=row, now=now)
        over = [row for row in rows if row.status in {S.COMPLETED, S.FAILED}]
        auto_funding.after_outcomes(over, now=now)

    def booked(
        self, row: FundingTransaction, happened: Happened, day: date | None
    ) -> list[Booking]:
        return lifecycle.bookings(row, happened, day)

    def expected_on(self, settles: date) -> date:
        """Of a debit by ACH: once the ordinary time for returns is over."""
        return calendar.return_due_date(settles)

    def knows(self, row: FundingTransaction, kind: EventKind) -> bool:
        return kind == EventKind.ACCEPTED and row.in_transit_at is not None

    def is_unanswered(self, row: FundingTransaction) -> bool:
        """Whether it was tried longer than any call lasts, and the network never said if
        it has it."""
        return row.status == S.RESERVED and row.attempts > len(RETRY_AFTER)

    def take_over(self, row: FundingTransaction, event: InboundEvent, now: datetime) -> None:
        """Record that the bank has it, because people found out so. Giving up the lease here keeps
        an old holder from recording another answer and anybody from sending it again."""
        leases.finish(row, parked_for="")
        lifecycle.move(
            funding=row,
            target=S.PENDING,
            actor=messages.actor_of(event),
            now=now,
            reason=event.reason,
            network_reference=event.reference,
        )

    # --- Staff hold it before it leaves

    def end(
        self, row: FundingTransaction, *, actor: Actor, code: str, message: str, now: datetime
    ) -> None:
        """Fail it. No money was drawn."""
        approvals.supersede(funding=row, by=actor.id, now=now)
        lifecycle.move(
            funding=row,
            target=S.FAILED,
            actor=actor,
            now=now,
            reason=message,
            failure_code=code,
            failure_message=message,
            next_attempt_at=None,
        )
        auto_funding.after_outcomes([row], now=now)

    def on_release(self, row: FundingTransaction, now: datetime) -> Mapping[str, Any]:
        if row.status != S.RESERVED:
            return {}
        enqueue_on_commit("funding.submit_due")
        available_on = lifecycle.expected_on(row, now)
        return {"next_attempt_at": now, "expected_availability_date": available_on}


FUNDING = FundingTransfer()
