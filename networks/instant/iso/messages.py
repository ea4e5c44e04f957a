"""What messages say, one class each: US cents, aware moments in UTC, codes as they are.

A field that a message may leave out has a default, and an empty text stands for one that is not
there. Moments are written in whole seconds. Every message but a rejection names itself by
`message_id`, and says when it was made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Account:
    """Whose account where: the name of the holder, the bank's routing number, and the number."""

    routing_number: str
    account_number: str = field(repr=False)
    name: str


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why something was refused, or is asked for: a code of ISO 20022 or the network's own, and
    words."""

    code: str = ""
    proprietary: str = ""
    text: str = ""

    def __str__(self) -> str:
        return self.code or self.proprietary


NO_REASON = Reason()


@dataclass(frozen=True, kw_only=True)
class RequestForPayment:
    """pain.013: the creditor asks the debtor, by his bank, to pay."""

    kind: ClassVar[str] = "pain.013"

    message_id: str
    created_at: datetime
    instruction_id: str
    end_to_end_id: str
    amount: int
    debtor: Account
    creditor: Account
    execute_at: datetime  # when to pay, at the earliest
    expires_at: datetime
    remittance: str = ""


@dataclass(frozen=True, kw_only=True)
class RequestAnswer:
    """pain.014: what became of a request for payment. None of its statuses is money."""

    kind: ClassVar[str] = "pain.014"

    message_id: str
    created_at: datetime
    original_message_id: str
    original_created_at: datetime
    original_instruction_id: str
    original_end_to_end_id: str
    status: str
    reason: Reason = NO_REASON
    debtor_routing_number: str = ""  # FedNow's
    creditor_routing_number: str = ""
    creditor_name: str = ""
    execute_at: datetime | None = None  # RTP's: the request's


@dataclass(frozen=True, kw_only=True)
class CreditTransfer:
    """pacs.008: money from the debtor's bank to the creditor's, final once it is accepted.

    `returns_of` is RTP's: the end-to-end id of the payment that this one gives back.
    """

    kind: ClassVar[str] = "pacs.008"

    message_id: str
    created_at: datetime
    instruction_id: str
    end_to_end_id: str
    transaction_id: str = ""  # RTP's
    uetr: str = ""  # FedNow's
    amount: int
    settlement_date: date
    debtor: Account
    creditor: Account
    remittance: str = ""
    returns_of: str = ""


@dataclass(frozen=True, kw_only=True)
class StatusReport:
    """pacs.002: what became of a payment, from the receiving bank or from the network.

    Which of the original's ids it names differs: `original_message_id` is always there.
    """

    kind: ClassVar[str] = "pacs.002"

    message_id: str
    created_at: datetime
    original_message_id: str
    original_message_name: str  # with its version: pacs.008.001.08
    original_created_at: datetime | None = None
    original_instruction_id: str = ""
    original_end_to_end_id: str = ""
    original_transaction_id: str = ""
    original_uetr: str = ""
    status: str
    reason: Reason = NO_REASON
    accepted_at: datetime | None = None
    settlement_date: date | None = None


@dataclass(frozen=True, kw_only=True)
class StatusRequest:
    """pacs.028: FedNow is asked what became of a payment."""

    kind: ClassVar[str] = "pacs.028"

    message_id: str
    created_at: datetime
    original_message_id: str
    original_message_name: str
    original_created_at: datetime
    original_instruction_id: str
    original_end_to_end_id: str
    original_uetr: str = ""


@dataclass(frozen=True, kw_only=True)
class PaymentReturn:
    """pacs.004, FedNow's: the money of a payment comes back. The debtor is who gives it back."""

    kind: ClassVar[str] = "pacs.004"

    message_id: str
    created_at: datetime
    original_message_id: str
    original_message_name: str
    original_created_at: datetime
    original_instruction_id: str
    original_end_to_end_id: str
    original_uetr: str = ""
    original_amount: int
    original_settlement_date: date
    amount: int
    settlement_date: date
    debtor: Account
    creditor: Account
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class ReturnRequest:
    """camt.056: the sender of a payment asks for its money back. Answered by a Resolution."""

    kind: ClassVar[str] = "camt.056"

    message_id: str
    created_at: datetime
    case_id: str
    original_message_id: str
    original_message_name: str
    original_created_at: datetime
    original_instruction_id: str
    original_end_to_end_id: str
    original_transaction_id: str = ""
    original_uetr: str = ""
    amount: int
    settlement_date: date
    debtor_name: str = ""  # RTP's, of the payment
    creditor_name: str = ""
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """camt.029: the answer to a return request. `status` IPAY: the money comes; RJCR: it does not.

    RTP names the request, FedNow the payment.
    """

    kind: ClassVar[str] = "camt.029"

    message_id: str
    created_at: datetime
    status: str
    case_id: str
    request_message_id: str = ""
    request_created_at: datetime | None = None
    original_message_id: str = ""
    original_message_name: str = ""
    original_created_at: datetime | None = None
    original_instruction_id: str = ""
    original_end_to_end_id: str = ""
    original_uetr: str = ""
    reason: Reason = NO_REASON
    amount: int | None = None  # that comes back
    settlement_date: date | None = None


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """admi.002: the network could not take a message. `reference` is that message's id."""

    kind: ClassVar[str] = "admi.002"

    reference: str
    code: str
    text: str = ""
    rejected_at: datetime | None = None


Message = (
    RequestForPayment
    | RequestAnswer
    | CreditTransfer
    | StatusReport
    | StatusRequest
    | PaymentReturn
    | ReturnRequest
    | Resolution
    | Rejection
)
# Which move money, and which a conversation of ours begins with.
ORDERS = frozenset({CreditTransfer.kind, PaymentReturn.kind})
FIRSTS = ORDERS | {RequestForPayment.kind}


@dataclass(frozen=True, kw_only=True)
class Header:
    """The business application header (head.001): who sends what to whom, and when.

    `message_id` is the message's own, and `business_id` that of a rejection, which has none.
    """

    message_id: str
    business_id: str
    sender: str
    receiver: str
    created_at: datetime
    is_duplicate: bool = False
