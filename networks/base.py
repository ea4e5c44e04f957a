"""What every payment network looks like to the rest of the service.

The protocol fits slow and fast networks alike: ACH batches leave at cut-offs and come back as files
with returns days later; a request for payment over RTP is answered in seconds, refused, or never
answered at all. So the answer to a submission only says that the network has taken the instruction
over. Everything that happens afterwards arrives as an event that is polled for.

Amounts are integer cents; instants are aware UTC datetimes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

SUBMIT_MANY_MAX = 1_000
# A worker ends a task after 90 seconds (CELERY_TASK_SOFT_TIME_LIMIT), with the call that is in it.
ANSWERS_WITHIN_MAX = timedelta(seconds=60)


class Method(StrEnum):
    """How an instruction moves money."""

    ACH_DEBIT = "ach_debit"  # pulls; may come back for 60 days and longer
    ACH_CREDIT = "ach_credit"
    RTP_REQUEST = "rtp_request"  # asks the account holder to push: RTP cannot pull
    RTP_CREDIT = "rtp_credit"

    @property
    def is_ach(self) -> bool:
        return self in {Method.ACH_DEBIT, Method.ACH_CREDIT}


class Carrier(StrEnum):
    """The instant networks of the US."""

    RTP = "rtp"
    FEDNOW = "fednow"

    @property
    def words(self) -> str:
        """Its name, for people."""
        return {Carrier.RTP: "RTP", Carrier.FEDNOW: "FedNow"}[self]


class EventKind(StrEnum):
    """What a network can say about an instruction."""

    ACCEPTED = "accepted"  # on its way through the banking system; no money yet
    RESCHEDULED = "rescheduled"  # it leaves later than was said, and settles on `settlement_date`
    SETTLED = "settled"  # the money moved between the banks, on the event's `settlement_date`
    FINAL = "final"  # the money moved and, for ACH, the ordinary return window is over
    REJECTED = "rejected"  # refused or expired; no money ever moved
    RETURNED = "returned"  # an ACH return, before settlement or long after it
    CORRECTED = "corrected"  # a notification of change: the money moved, the account was wrong
    RETURN_DISHONORED = "return_dishonored"  # our bank does not accept a return
    RETURN_CONTESTED = "return_contested"  # the other bank stands by a return that was dishonored
    RECEIVED = "received"  # a credit that nobody asked for


class HolderType(StrEnum):
    BUSINESS = "business"
    INDIVIDUAL = "individual"


class AccountType(StrEnum):
    CHECKING = "checking"
    SAVINGS = "savings"


class Authorization(StrEnum):
    """How the holder of an account agreed to a debit of it. For ACH the SEC code follows from it
    (Nacha Operating Rules, 2.3 and Appendix Three)."""

    CORPORATE = "corporate"  # a business, by its agreement with the originator
    WEB_SINGLE = "web_single"  # an individual, online, for this one debit
    WEB_RECURRING = "web_recurring"  # an individual, online, for debits by a rule


class Withdrawal(StrEnum):
    """The answer to a request to give an instruction back."""

    WITHDRAWN = "withdrawn"  # nothing of it leaves any more
    TOO_LATE = "too_late"  # it has left, or the network does not have it


class Custody(StrEnum):
    """How far an instruction is that its bank has not answered."""

    OURS = "ours"  # nothing of it has left: it can be withdrawn
    LEAVING = "leaving"  # it is in a file, or at the bank, which has not said whether it took it


class Speed(StrEnum):
    STANDARD = "standard"
    SAME_DAY = "same_day"


class Purpose(StrEnum):
    """What an instruction is for, as far as a network tells it apart."""

    TOPUP = "topup"
    PAYMENT = "payment"
    VERIFICATION = "verification"  # micro-deposits
    RETRY = "retry"  # a debit that came back for want of funds, once more
    REVERSAL = "reversal"  # takes back an instruction that was wrong


INDIVIDUAL_ID_LENGTH = 15
EVENT_CODE_LENGTH = 16  # what is kept of a code; a longer one has to be looked at by a person


@dataclass(frozen=True, kw_only=True)
class BankAccount:
    """The account at the other side of an instruction. Its number and holder are left out of
    `repr`, and so of logs."""

    routing_number: str
    account_number: str = field(repr=False)
    holder_name: str = field(repr=False)
    holder_type: HolderType
    account_type: AccountType


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One transfer of money, identified for ever by our own id."""

    id: str
    method: str  # a `Method`, or one of the network's own
    amount: int
    currency: str = "USD"
    account: BankAccount
    description: str = ""
    expires_at: datetime | None = None  # rtp_request: when the question lapses
    purpose: Purpose
    tenant_id: str = ""  # whose money it is; networks never look it up
    individual_id: str = ""  # what the account holder's statement quotes, at most 15 characters
    authorization: Authorization | None = None  # of a debit
    speed: Speed = Speed.STANDARD
    original_id: str = ""  # of a retry or reversal: the instruction that it repeats or takes back

    def __post_init__(self) -> None:
        if self.amount < 1:
            raise ValueError("an instruction moves at least one cent")
        if self.currency != "USD":
            raise ValueError("US networks move US dollars only")
        if len(self.individual_id) > INDIVIDUAL_ID_LENGTH:
            raise ValueError(f"an individual id has at most {INDIVIDUAL_ID_LENGTH} characters")
        if bool(self.original_id) != (self.purpose in {Purpose.RETRY, Purpose.REVERSAL}):
            raise ValueError("a retry or a reversal names its original, and nothing else does")


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """The network's receipt: it has the instruction and will report on it."""

    reference: str  # what to quote to the network about it
    trace_number: str = ""  # ACH only: 15 digits


@dataclass(frozen=True, kw_only=True)
class NetworkEvent:
    """One message of a network, which is stored first and applied second.

    `(network, id)` is unique. `instruction_id` is empty when the message matches nothing we sent.
    `amount` and `currency` are the network's own: whoever applies the event compares them. Those of
    CORRECTED are the instruction's; it has the code (C01…C14) and a reference, and no account data:
    `PaymentNetwork.correction` has them.
    """

    id: str
    network: str
    instruction_id: str
    kind: EventKind
    amount: int
    currency: str
    code: str = ""  # R01…R90 for returns; an ISO 20022 reason, or `withdrawn`, for rejections
    reason: str = ""
    reference: str = ""
    occurred_at: datetime
    settlement_date: date | None = None  # of SETTLED and RESCHEDULED: the banking day
    trace_number: str = ""  # of ACCEPTED: where an ACH entry gets its trace only in its file


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What the account holder's bank says an account really is (a notification of change).

    Empty and None are what it says nothing about. The account data are left out of `repr`.
    """

    code: str
    routing_number: str = field(default="", repr=False)
    account_number: str = field(default="", repr=False)
    account_type: AccountType | None = field(default=None, repr=False)
    name: str = field(default="", repr=False)


class CorrectionOutcome(StrEnum):
    """What became of a correction where the account is kept."""

    APPLIED = "applied"  # the account is used as its bank says, from now on
    UNCHANGED = "unchanged"  # nothing had to be changed, or nobody uses the account any more
    REVIEW = "review"  # a person has to decide
    RESOLVED = "resolved"  # a person has decided, without changing the account


@dataclass(frozen=True, kw_only=True)
class BankRecord:
    """What the network's own books say about an instruction, for the audit. `amount` is cents."""

    instruction_id: str
    amount: int
    currency: str
    reference: str
    is_final: bool
    is_returned: bool


@dataclass(frozen=True)
class Cutoff:
    """A time of each banking day, Eastern, at which a network's file leaves. `same_day`: what is in
    it may settle on that day."""

    at: time
    same_day: bool = False


class Expectation(Protocol):
    """The banking day on which money that is sent at a moment has arrived."""

    def __call__(self, now: datetime, speed: Speed = Speed.STANDARD) -> date: ...


@dataclass(frozen=True, kw_only=True)
class MethodTerms:
    """What a network does for one method. Limits are cents per instruction. `cutoffs` ascend; a
    network without any moves money around the clock. `carrier` is the instant network that it
    gives access to."""

    amount_max: int
    amount_min: int = 1
    cutoffs: tuple[Cutoff, ...] = ()
    same_day_max: int = 0  # 0: nothing settles on the day on which it is sent
    expected_on: Expectation
    carrier: Carrier | None = None

    def __post_init__(self) -> None:
        times = [cutoff.at for cutoff in self.cutoffs]
        if times != sorted(set(times)):
            raise ValueError("the cut-offs of a day ascend")
        if (self.same_day_max > 0) != any(cutoff.same_day for cutoff in self.cutoffs):
            raise ValueError("same-day needs a limit and a cut-off, or neither")

    @property
    def is_instant(self) -> bool:
        """Whether money arrives at any hour, within seconds."""
        return not self.cutoffs

    def speed(self, asked: Speed, *, amount: int) -> Speed:
        """As fast as was asked for, where this network does that with so much."""
        return asked if amount <= self.same_day_max else Speed.STANDARD

    def arrival(self, now: datetime, asked: Speed, *, amount: int) -> date:
        """The banking day on which `amount` that is sent now, as fast as may be, has arrived."""
        return self.expected_on(now, self.speed(asked, amount=amount))


@dataclass(frozen=True, kw_only=True)
class VerificationTerms:
    """What a network asks of accounts that were typed in. Amounts are cents.

    An account for which `needed` says so is proven by two deposits before it is debited: of
    `amounts`, or of any two. `last_try` are wrong amounts after which no try is left.
    """

    needed: Callable[[BankAccount], bool] = lambda account: True
    amounts: tuple[int, int] | None = None
    last_try: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What a network does. `together`: how many instructions it is handed in one call.
    `answers_within`: its adapter gives up a call that lasts longer, so a lease covers it."""

    methods: Mapping[str, MethodTerms]  # by `Method`, or a network's own word
    together: int = 200
    answers_within: timedelta = timedelta(seconds=10)
    verification: VerificationTerms = VerificationTerms()

    def __post_init__(self) -> None:
        if not 1 <= self.together <= SUBMIT_MANY_MAX:
            raise ValueError(f"a call hands over 1 to {SUBMIT_MANY_MAX} instructions")
        if not timedelta(0) < self.answers_within <= ANSWERS_WITHIN_MAX:
            raise ValueError(f"a call is given up within {ANSWERS_WITHIN_MAX}")

    def supports(self, method: str, *, amount: int) -> bool:
        terms = self.methods.get(method)
        return terms is not None and terms.amount_min <= amount <= terms.amount_max


class NetworkError(Exception):
    """Anything a network refuses or fails to do."""


class NetworkUnavailable(NetworkError):
    """No answer came. The network may or may not have the instruction: submit it again under the
    same id."""


class InstructionRefused(NetworkError):
    """A final refusal: no money moved, and none will."""

    def __init__(self, *, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class InstructionConflict(NetworkError):
    """The id was used before with other terms. The first instruction is not changed.

    This is not an `InstructionRefused`, because money may be moving under this id. The caller must
    not conclude that nothing happened.
    """


# What a network says to one instruction of many. An error stands for what a call about this
# instruction alone would raise.
Answer: TypeAlias = Accepted | InstructionRefused | InstructionConflict | NetworkUnavailable


class PaymentNetwork(Protocol):
    """A payment network. Its calls leave the process: never make one inside a database
    transaction."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> Mapping[str, Answer]:
        """Hand over instructions of different ids, `capabilities.together` at most.

        Each is answered for itself, by its id: one that is refused holds up no other. A repeat
        under the same id gets the first receipt. One without an answer may be there or not, as
        after NetworkUnavailable. Raises NetworkUnavailable where that is so for all of them.
        """
        ...

    def find(self, instruction_id: str) -> Accepted | None:
        """The receipt of an instruction that the network has, or None if it has never seen it.

        It only asks: no money moves because of it. Raises NetworkUnavailable.
        """
        ...

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        """Give an instruction back that has not left yet. Asked again, it answers the same.

        What was withdrawn is reported by a REJECTED event with the code `return_codes.WITHDRAWN`.
        Raises NetworkUnavailable: it may be withdrawn or not.
        """
        ...

    def custody(self, instruction_ids: Sequence[str]) -> Mapping[str, Custody]:
        """Those of the instructions that may still leave, or leave once more. The bank has the
        others, or they are over, or the network never had them.

        It only asks. Raises NetworkUnavailable.
        """
        ...

    def records(self, instruction_ids: Sequence[str]) -> Sequence[BankRecord] | None:
        """What the network's books say about those of these instructions that it has taken over.

        None: its books cannot be read. It only asks. Raises NetworkUnavailable.
        """
        ...

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> Sequence[NetworkEvent]:
        """Events that are not acknowledged yet, oldest first, and in order for each instruction.

        They are returned again at every call until they are acknowledged. Only events about
        instructions whose id starts with `id_prefix` are returned, because several apps share a
        network.
        """
        ...

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        """Say that these events are stored on our side. Repeats and unknown ids do no harm."""
        ...

    def correction(self, event_id: str) -> Correction | None:
        """The account data of a CORRECTED event of this network, told or not, acknowledged or not.

        None: it has none, or they cannot be read. Raises NetworkUnavailable.
        """
        ...

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """Hear what became of a CORRECTED event of this network, in words without account data.

        It may be said again, and otherwise later; unknown ids do no harm. Raises
        NetworkUnavailable: it is said again.
        """
        ...
