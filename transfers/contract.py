"""What funding and payments each describe about their transfers: one class with named methods.

The methods of a `Transfer` are in the order in which money moves: a row is due, it is handed to a
network, the network reports, and staff may hold it before it is sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from django.db import models
from django.db.models import QuerySet

from balance import services as ledger
from balance.operator.posting import Booking
from common.engine import arrays, sql
from common.engine.lookups import one_of
from networks.base import (
    INDIVIDUAL_ID_LENGTH,
    Accepted,
    Authorization,
    Correction,
    EventKind,
    Instruction,
    InstructionRefused,
    Purpose,
    Speed,
)
from tenants import actors
from tenants.actors import Actor
from tenants.models import TenantStatus
from tenants.switches import SwitchKind, submittable
from transfers import dishonors, routes
from transfers.accounts import AccountData, StoredAccount
from transfers.books import Happened
from transfers.corrections import AccountBook
from transfers.inbox.models import InboundEvent
from transfers.methods import Methods
from transfers.rows import TransferRow

_TRACES = """
UPDATE {table} AS noted SET trace_number = said.trace, updated_at = %(now)s
FROM unnest(%(ids)s::text::text[], %(traces)s::text::text[]) AS said (id, trace)
WHERE noted.id = said.id AND noted.trace_number <> said.trace
RETURNING noted.id
"""

Subject = TypeVar("Subject", bound=models.Model)
Row = TypeVar("Row", bound=TransferRow)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a kind of message does: `moves` gives the new status by the present one; in a status of
    `too_early_in` the message waits.

    A move to the same status only notes the message. `implies` is for a status that lacks a step:
    it names the step that the message implies, which is made first.
    """

    moves: Mapping[str, str]
    too_early_in: frozenset[str]
    implies: Mapping[str, str] = field(default_factory=dict)

    def moves_from(self, status: str) -> bool:
        """Whether the message would move a row in this status."""
        return status in self.moves or status in self.implies


class Effect(NamedTuple):
    """What a message does: it takes its row to `target`."""

    row: Any
    target: str
    event: InboundEvent


class MessageHandler(ABC, Generic[Subject]):
    """The rows of one app that networks send messages about: those whose id starts with
    `id_prefix`.

    A row has `network`, `amount`, `currency` and `status`, and is `common.leases.Leased`. `noun`
    names it in notes for staff.
    """

    id_prefix: ClassVar[str]
    noun: ClassVar[str]
    rules: ClassVar[Mapping[EventKind, Rule]]
    hides_amounts: ClassVar[bool] = False  # whether nobody may see how much a row moves
    # What may be applied together with messages about other rows; the rest is applied alone.
    in_sets: ClassVar[frozenset[EventKind]] = frozenset()

    @abstractmethod
    def lock(self, row_id: str) -> Subject | None:
        """The row, locked until the end of the transaction; None if it does not exist."""

    def lock_many(self, row_ids: Sequence[str]) -> Mapping[str, Subject]:
        """Those of the rows that nobody else has locked, by id, locked in the order of their ids.
        Asked where there is anything `in_sets`."""
        raise NotImplementedError(f"messages about a {self.noun} are applied one by one")

    def imply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Make the steps that messages about different rows imply, by `implies` of the rule."""
        raise NotImplementedError(f"nothing is implied about a {self.noun}")

    def note(self, effects: Sequence[Effect], now: datetime) -> None:
        """Write down what messages about different locked rows say without moving them."""

    @abstractmethod
    def apply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Move locked rows, as the messages say and their rules allow. Several at once are about
        different rows and of the kinds `in_sets`."""

    @abstractmethod
    def correct(
        self, row: Subject, event: InboundEvent, said: Correction | None, now: datetime
    ) -> str:
        """Correct the account of a locked row, whatever its status is, as its bank says.

        Returns why nothing was changed; an empty string where it was. Raises
        transfers.corrections.NeedsAPerson.
        """

    def knows(self, row: Subject, kind: EventKind) -> bool:
        """Whether an earlier move implied what such a message says, so that it changes nothing."""
        return False

    def repeats(self, row: Subject, event: InboundEvent) -> bool:
        """Whether another network than the row's, which had it before and refused it, says no more
        than is known of that."""
        return False

    def contradicted(self, row: Subject, event: InboundEvent, now: datetime) -> None:
        """See to a locked row about which a network says what cannot be right. A person looks at
        the message; nothing else moves by it."""

    def is_unanswered(self, row: Subject) -> bool:
        """Whether it may have been handed over, and no answer can be expected any more."""
        return False

    def take_over(self, row: Subject, event: InboundEvent, now: datetime) -> None:
        """Record what people found out about an unanswered row, so that it is never sent again."""
        raise NotImplementedError(f"{event.kind} by hand of {row.pk}, which was not handed over")


class Transfer(MessageHandler[Row]):
    """One direction in which money moves: its rows, and what becomes of them step by step."""

    model: ClassVar[type[TransferRow]]
    direction: ClassVar[Literal["in", "out"]]
    purpose: ClassVar[Purpose]
    methods: ClassVar[Methods]
    due_status: ClassVar[str]  # the status in which a row is to be handed over
    taken_over_status: ClassVar[str]  # that of a row that its network has, and may not have sent
    stopped_by: ClassVar[SwitchKind]  # the switch of operators that keeps it
    account_field: ClassVar[str]  # the column of the tenant's or the recipient's bank account
    accounts: ClassVar[AccountBook[Any]]
    books_dishonors: ClassVar[bool] = True  # whether what our bank does not accept moves money here
    expected_field: ClassVar[str] = ""  # the column of the day that the tenant is promised
    # A rejection or a return also ends accounts, whose rows are locked before any balance.
    in_sets = frozenset(
        {EventKind.ACCEPTED, EventKind.RESCHEDULED, EventKind.SETTLED, EventKind.FINAL}
    )

    # --- It is due, and is handed to its network

    def due(self) -> QuerySet[Row]:
        """The rows to be handed over, with their bank accounts. Held rows, rows of a suspended
        tenant, rows that an operator switch stops and those whose route is closed are not due."""
        model: Any = self.model
        rows = model._default_manager.filter(
            ~routes.closed(self.methods),
            status=self.due_status,
            held_at=None,
            tenant__status=TenantStatus.ACTIVE,
        )
        allowed = submittable(rows, kind=self.stopped_by).select_related(self.account_field)
        return cast("QuerySet[Row]", allowed)

    def fixed_when_sent(self, row: Row, now: datetime) -> Mapping[str, Any]:
        """Columns that stay as they are from the first claim on, beside the version of the bank
        account."""
        return {}

    def refresh(
        self, rows: Sequence[Row], now: datetime
    ) -> None:  # most are judged by nothing else
        """Read again, for all of them at once, what `require_sendable` judges by."""

    def require_sendable(self, row: Row) -> None:  # most are
        """Raises InstructionRefused for a row that may not be sent, or not any more. Asked before
        each call, of a row that was refreshed."""

    def short(self, rows: Sequence[Row]) -> Mapping[str, bool]:
        """Of each row, by its id, whether it is kept back for a while, for want of money. Asked
        right before each call. What is not in the answer cannot be told now, and is tried again
        later."""
        return {row.pk: False for row in rows}

    def keep_back(self, row: Row, now: datetime) -> bool:
        """Keep a short row back and give up its lease. False: there is money by now."""
        raise NotImplementedError(f"nothing is ever short, so {row.pk} cannot be put away")

    def instruction(self, row: Row) -> Instruction:
        """What the network is told. Raises common.crypto.Undecryptable."""
        terms: Any = row
        return Instruction(
            id=row.pk,
            method=self.methods[terms.method].network_method,
            amount=terms.amount,
            currency=terms.currency,
            account=self.account_sent(row).in_clear(),
            description=terms.description,
            expires_at=self.expires_at(row),
            purpose=self.purpose,
            tenant_id=terms.tenant_id,
            individual_id=row.pk[-INDIVIDUAL_ID_LENGTH:].upper(),
            authorization=self.authorization(row),
            speed=Speed(terms.speed),
        )

    def expires_at(self, row: Row) -> datetime | None:
        """When a request for payment lapses."""
        return None

    def authorization(self, row: Row) -> Authorization | None:
        """How the holder of the account agreed to be debited; None where nobody is."""
        return None

    @abstractmethod
    def accepted(self, row: Row, receipt: Accepted, now: datetime) -> None:
        """Record that the network has accepted the row, in the transaction that gives up
        the lease."""

    def accepted_together(self, answers: Iterable[tuple[Row, Accepted]], now: datetime) -> None:
        """`accepted` of many rows, in one transaction."""
        for row, receipt in answers:
            self.accepted(row, receipt, now)

    @abstractmethod
    def refused(self, row: Row, refusal: InstructionRefused, now: datetime) -> None:
        """Record that the network refused the row for good, in the transaction that gives up the
        lease."""

    # --- The network reports on it: `rules`, `imply`, `apply`, `knows`, `take_over`

    def lock(self, row_id: str) -> Row | None:
        """The row with its bank account, locked until the end of the transaction; None if it does
        not exist."""
        rows = self.model._default_manager.select_for_update(no_key=True, of=("self",))
        row = rows.select_related(self.account_field).filter(pk=row_id).first()
        return cast("Row | None", row)

    def lock_many(self, row_ids: Sequence[str]) -> Mapping[str, Row]:
        """Without their bank accounts, which few of them need."""
        rows = self.model._default_manager.filter(one_of("pk", row_ids)).order_by("pk")
        free = rows.select_for_update(no_key=True, skip_locked=True)
        return {row.pk: cast("Row", row) for row in free}

    def note(self, effects: Sequence[Effect], now: datetime) -> None:
        """The day on which money moved between the banks, or will, the trace numbers, and the money
        of returns that our bank did not accept."""
        settled = [each for each in effects if each.event.says == EventKind.SETTLED]
        ledger.book(
            [
                line
                for row, _, event in settled
                for line in self.booked(row, Happened.SETTLED, event.settlement_date)
            ],
            now=now,
        )
        traces = {row.pk: event.trace_number for row, _, event in effects if event.trace_number}
        if traces:
            self._note_traces(traces, now)
        by_columns: dict[tuple[str, date | None], list[str]] = defaultdict(list)
        for row, _, event in effects:
            for column, day in self._days(event).items():
                setattr(row, column, day)
                by_columns[column, day].append(row.pk)
        for (column, day), row_ids in by_columns.items():
            rows: Any = self.model._default_manager.filter(one_of("pk", row_ids))
            rows.update(**{column: day, "updated_at": now})
        for row, _, event in effects:
            if event.says in dishonors.KINDS and self.books_dishonors:
                dishonors.hear(row, event, direction=self.direction, now=now)

    def _days(self, event: InboundEvent) -> Mapping[str, date | None]:
        """The columns in which a message without a move is written down."""
        if event.says == EventKind.SETTLED:
            return {"settlement_date": event.settlement_date}
        if event.says == EventKind.RESCHEDULED and event.settlement_date and self.expected_field:
            return {self.expected_field: self.expected_on(event.settlement_date)}
        return {}

    def _note_traces(self, traces: Mapping[str, str], now: datetime) -> None:
        """ACH entries get theirs in their file, after they were taken over. One statement."""
        sql.rows(
            _TRACES.format(table=self.model._meta.db_table),
            {"ids": arrays.texts(traces), "traces": arrays.texts(traces.values()), "now": now},
        )

    @abstractmethod
    def booked(self, row: Row, happened: Happened, day: date | None) -> list[Booking]:
        """The operator's lines of what happened to the money of a row, as it was before. `day` is
        the banking day that the network named."""

    def expected_on(self, settles: date) -> date:
        """When money that settles between the banks on that day has arrived for good."""
        return settles

    def correct(self, row: Row, event: InboundEvent, said: Correction | None, now: datetime) -> str:
        return self.accounts.apply(
            event,
            said,
            account_id=self.account(row).pk,
            version=row.account_version,
            actor=actors.network(event.network),
            now=now,
        )

    # --- Staff hold it before it leaves

    def account(self, row: Row) -> StoredAccount:
        """The bank account that the row draws from or goes to."""
        account: StoredAccount = getattr(row, self.account_field)
        return account

    def account_sent(self, row: Row) -> AccountData:
        """The account as it goes out, or went out, with a row that was claimed: a bank may correct
        it meanwhile, and a repeat must not differ from the first try."""
        return self.account(row).as_of(row.account_version)

    @abstractmethod
    def end(self, row: Row, *, actor: Actor, code: str, message: str, now: datetime) -> None:
        """Fail a locked row that no network has seen, with everything that goes with it."""

    @abstractmethod
    def on_release(self, row: Row, now: datetime) -> Mapping[str, Any]:
        """Let an unsent row go on; returns the columns that have to change after the time
        on hold."""
