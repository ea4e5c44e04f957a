"""What every payment network looks like to the rest of the service.

The protocol is shaped by the slowest and by the fastest network alike: ACH batches leave at
cut-offs and come back as files with returns days later; a request for payment over RTP is
answered in seconds, refused, or never answered at all. So submitting only ever means "taken
over", and everything that happens afterwards arrives as an event that is polled for.

Amounts are integer cents; instants are aware UTC datetimes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from enum import StrEnum
from typing import Protocol


class Method(StrEnum):
    """How an instruction moves money."""

    ACH_DEBIT = "ach_debit"  # pulls; may come back for 60 days and longer
    ACH_CREDIT = "ach_credit"
    RTP_REQUEST = "rtp_request"  # asks the account holder to push: RTP cannot pull
    RTP_CREDIT = "rtp_credit"

    @property
    def is_ach(self) -> bool:
        return self in {Method.ACH_DEBIT, Method.ACH_CREDIT}


class EventKind(StrEnum):
    """What a network can say about an instruction."""

    ACCEPTED = "accepted"  # on its way through the banking system; no money yet
    SETTLED = "settled"  # the money moved and, for ACH, the ordinary return window is over
    REJECTED = "rejected"  # refused or expired; no money ever moved
    RETURNED = "returned"  # an ACH return, before settlement or long after it


class HolderType(StrEnum):
    BUSINESS = "business"
    INDIVIDUAL = "individual"


class AccountType(StrEnum):
    CHECKING = "checking"
    SAVINGS = "savings"


@dataclass(frozen=True, kw_only=True)
class BankAccount:
    """The other side of an instruction. Its number and holder stay out of `repr`, hence of logs."""

    routing_number: str
    account_number: str = field(repr=False)
    holder_name: str = field(repr=False)
    holder_type: HolderType
    account_type: AccountType


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One movement of money, identified for ever by our own id."""

    id: str
    method: str  # a `Method`, or one of the network's own
    amount: int
    currency: str = "USD"
    account: BankAccount
    description: str = ""
    expires_at: datetime | None = None  # rtp_request: when the question lapses

    def __post_init__(self) -> None:
        if self.amount < 1:
            raise ValueError("an instruction moves at least one cent")
        if self.currency != "USD":
            raise ValueError("US networks move US dollars only")


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The network's receipt: it has the instruction and will report on it."""

    reference: str  # what to quote to the network about it
    trace_number: str = ""  # ACH only: 15 digits


@dataclass(frozen=True, kw_only=True)
class NetworkEvent:
    """One message of a network, to be stored first and applied second.

    `(network, id)` is unique. `instruction_id` is empty when the message matches nothing we
    sent. `amount` and `currency` are the network's own: whoever applies the event compares them.
    """

    id: str
    network: str
    instruction_id: str
    kind: EventKind
    amount: int
    currency: str
    code: str = ""  # R01…R90 for returns, an ISO 20022 reason for rejections
    reason: str = ""
    reference: str = ""
    occurred_at: datetime


@dataclass(frozen=True, kw_only=True)
class BankRecord:
    """What the network's own books say about an instruction, for the audit. `amount` is cents."""

    instruction_id: str
    amount: int
    currency: str
    reference: str
    is_settled: bool
    is_returned: bool


@dataclass(frozen=True, kw_only=True)
class MethodTerms:
    """What a network does for one method. Limits are cents per instruction."""

    amount_max: int
    amount_min: int = 1
    cutoffs: tuple[time, ...] = ()  # Eastern, each banking day; empty: around the clock
    expected_on: Callable[[datetime], date]  # the banking day on which money sent then has arrived

    @property
    def is_instant(self) -> bool:
        """Whether it moves money at any hour, within seconds."""
        return not self.cutoffs


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    methods: Mapping[str, MethodTerms]  # by `Method`, or a network's own word

    def supports(self, method: str, *, amount: int) -> bool:
        terms = self.methods.get(method)
        return terms is not None and terms.amount_min <= amount <= terms.amount_max


class NetworkError(Exception):
    """Anything a network refuses or fails to do."""


class NetworkUnavailable(NetworkError):
    """No answer. The instruction may or may not be there: submit it again under the same id."""


class InstructionRefused(NetworkError):
    """A final no. Nothing moved and nothing will."""

    def __init__(self, *, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class InstructionConflict(NetworkError):
    """The id was used before with other terms. The first instruction stands untouched.

    Not an `InstructionRefused` on purpose: money may well be moving under this id, so the
    caller must not conclude that nothing happened.
    """


class PaymentNetwork(Protocol):
    """An adapter. Its calls leave the process: never make one inside a database transaction."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def submit(self, instruction: Instruction, *, now: datetime) -> Accepted:
        """Hand over an instruction; a repeat under the same id returns the first receipt.

        Raises NetworkUnavailable, InstructionRefused, InstructionConflict.
        """
        ...

    def find(self, instruction_id: str) -> Accepted | None:
        """The receipt of an instruction the network holds, or None when it has never seen it.

        Asks only: whatever the answer, nothing moves because of it. Raises NetworkUnavailable.
        """
        ...

    def records(self, instruction_ids: Sequence[str]) -> Sequence[BankRecord] | None:
        """What its books say about those of these instructions that it has taken over.

        None: its books cannot be asked. Asks only. Raises NetworkUnavailable.
        """
        ...

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> Sequence[NetworkEvent]:
        """Events not yet acknowledged, oldest first and in order for each instruction.

        They come again on every call until they are acknowledged. `id_prefix` keeps to the
        instructions whose id starts so, because several apps share a network.
        """
        ...

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        """Say that these events are stored on our side. Repeats and unknown ids are harmless."""
        ...

    def needs_micro_deposits(self, account: BankAccount) -> bool:
        """Whether a manually entered account must be verified before it is debited."""
        ...

    def choose_micro_deposits(self) -> tuple[int, int]:
        """Two different amounts, 1 to 49 cents, for one verification.

        Chosen apart from sending, so that the caller stores them before any money moves.
        """
        ...

    def send_micro_deposits(
        self,
        instruction_id: str,
        account: BankAccount,
        amounts: tuple[int, int],
        *,
        now: datetime,
    ) -> Accepted:
        """Credit the account twice; idempotent by id. Its events carry the sum of both.

        A RETURNED event says that the account cannot be used. Raises as `submit` does.
        """
        ...
