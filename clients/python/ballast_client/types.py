"""The API's objects, as they come over the wire."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Method = Literal["ach_debit", "rtp"]
Network = Literal["rtp", "fednow"]
Speed = Literal["standard", "same_day"]
FundingStatus = Literal[
    "reserved", "awaiting_confirmation", "pending", "in_transit", "completed", "failed"
]
PaymentMethod = Literal["ach_credit", "rtp", "auto"]
PaymentMethodUsed = Literal["ach_credit", "rtp"]
PaymentStatus = Literal[
    "waiting_for_funds", "created", "processing", "completed", "failed", "returned", "canceled"
]


class BalanceSummary(TypedDict):
    availableBalance: int
    pendingBalance: int
    lockedBalance: int
    currency: str


class ProvenBalance(TypedDict):
    day: str
    takenAt: str
    available: int
    settled: int
    locked: int
    overdrawn: int


class PathStep(TypedDict):
    digest: str
    available: int
    settled: int
    locked: int


class Proof(TypedDict):
    format: str
    tenantId: str
    salt: str
    index: int
    available: int
    settled: int
    locked: int
    path: list[PathStep]
    report: str
    keyId: str
    signature: str


class BalanceAfter(TypedDict):
    availableBalance: int
    lockedBalance: int


class BalanceTransaction(TypedDict):
    id: str
    type: Literal["credit", "debit", "lock", "unlock", "settlement"]
    amount: int
    currency: str
    availableDelta: int
    lockedDelta: int
    balanceAfter: BalanceAfter
    sourceType: str
    sourceId: str
    description: str | None
    createdAt: str


class Approval(TypedDict):
    status: Literal["open", "approved", "declined", "expired", "superseded"]
    decidedBy: dict[str, str | None] | None
    decidedAt: str | None
    declineReason: str | None


class FundingTransaction(TypedDict):
    id: str
    amount: int
    currency: str
    status: FundingStatus
    fundingMethod: Method
    network: Network | None
    fundingSourceId: str
    trigger: Literal["topup", "auto_funding", "staff"]
    speed: Speed
    retryOf: str | None
    createdBy: dict[str, str | None]
    description: str | None
    metadata: dict[str, str]
    requiresConfirmation: bool
    confirmationExpiresAt: str | None
    approval: Approval | None
    expectedAvailabilityDate: str | None
    expiresAt: str | None
    statusTimestamps: dict[str, str | None]
    failureCode: str | None
    failureMessage: str | None
    returned: bool
    returnCode: str | None
    returnReason: str | None
    returnedAt: str | None
    traceNumber: str | None
    balanceTransactionIds: list[str]
    createdAt: str
    updatedAt: str


class AuthorizationIn(TypedDict):
    """What the holder of an individual's account agreed to, on your own pages."""

    type: Literal["single", "recurring"]
    text: str
    acceptedAt: str
    ip: str
    maxAmount: NotRequired[int]


class BankAccountIn(TypedDict):
    accountNumber: str
    routingNumber: str
    accountHolderName: str
    accountHolderType: Literal["business", "individual"]
    accountType: Literal["checking", "savings"]


class PaidAccount(TypedDict):
    bankName: str | None
    last4: str
    routingNumber: str
    accountHolderName: str
    accountHolderType: str
    accountType: str


class Recipient(PaidAccount):
    id: str
    nickname: str | None
    createdAt: str
    removedAt: str | None


class Attempt(TypedDict):
    """One way by which a payment was tried."""

    number: int
    method: PaymentMethodUsed
    network: Network | None
    outcome: Literal["pending", "completed", "refused", "returned"]
    code: str | None
    startedAt: str | None
    endedAt: str | None


class Payment(TypedDict):
    id: str
    amount: int
    currency: str
    status: PaymentStatus
    method: PaymentMethod
    methodUsed: PaymentMethodUsed
    network: Network | None
    attempts: list[Attempt]
    recipient: PaidAccount
    recipientId: str | None
    createdBy: dict[str, str | None]
    description: str | None
    metadata: dict[str, str]
    speed: Speed
    waitForFunds: bool
    waitsUntil: str | None
    requiresConfirmation: bool
    confirmationExpiresAt: str | None
    confirmedAt: str | None
    approval: Approval | None
    onHold: bool
    heldBackAt: str | None
    expectedArrivalDate: str | None
    statusTimestamps: dict[str, str | None]
    failureCode: str | None
    failureMessage: str | None
    returned: bool
    returnCode: str | None
    returnReason: str | None
    returnedAt: str | None
    traceNumber: str | None
    balanceTransactionIds: list[str]
    createdAt: str
    updatedAt: str


class FundingSource(TypedDict):
    id: str
    type: Literal["linked", "manual"]
    status: str
    verificationMethod: str
    bankName: str | None
    last4: str
    routingNumber: str
    accountHolderName: str
    accountHolderType: str
    accountType: str
    supportedMethods: list[Method]
    isDefault: bool
    lastReturnCode: str | None
    createdAt: str
    removedAt: str | None


class AutoFundingConfig(TypedDict):
    enabled: bool
    lowBalanceThreshold: int | None
    fundingAmount: int | None
    fundingMethod: Method | None
    confirmationThreshold: int | None
    fundingSourceId: str | None
    monthlyLimit: int | None
    confirmationEmails: list[str]
    confirmTopups: bool
    status: Literal["active", "paused", "disabled"]
    pausedReason: str | None
    pausedUntil: str | None
    lastDeclineReason: str | None
    lastTriggeredAt: str | None
    inFlightAmount: int
    fundedThisMonth: int
    updatedAt: str | None


class Webhook(TypedDict, total=False):
    id: str
    url: str
    events: list[str]
    status: str
    description: str | None
    secret: str | None
    createdAt: str


class PaymentData(TypedDict):
    """A funding transaction (`direction` is "in") or a payment ("out")."""

    paymentId: str
    amount: int
    status: str
    currency: str
    direction: Literal["in", "out"]
    sequence: int
    failureCode: str | None
    returnCode: str | None
    network: str | None
    method: NotRequired[str]
    methodUsed: NotRequired[str]
    attempts: NotRequired[list[Attempt]]


class FundingSourceUpdated(TypedDict):
    fundingSourceId: str
    status: str
    lastReturnCode: str | None


class AutoFundingPaused(TypedDict):
    reason: str
    pausedUntil: str | None
    availableBalance: int


class AutoFundingSkipped(TypedDict):
    reason: str
    availableBalance: int
    lowBalanceThreshold: int
    fundingAmount: int


class ConfirmationRequested(TypedDict):
    """It names a funding transaction or a payment."""

    confirmationId: str
    fundingTransactionId: NotRequired[str]
    paymentId: NotRequired[str]
    amount: int
    expiresAt: str


class BalanceLow(TypedDict):
    availableBalance: int
    pendingBalance: int
    lowBalanceThreshold: int


class PingData(TypedDict):
    webhookId: str


class _Event(TypedDict):
    id: str
    timestamp: str


class PaymentEvent(_Event):
    type: Literal[
        "payment.created",
        "payment.processing",
        "payment.completed",
        "payment.failed",
        "payment.returned",
    ]
    data: PaymentData


class FundingSourceUpdatedEvent(_Event):
    type: Literal["funding_source.updated"]
    data: FundingSourceUpdated


class AutoFundingPausedEvent(_Event):
    type: Literal["auto_funding.paused"]
    data: AutoFundingPaused


class AutoFundingSkippedEvent(_Event):
    type: Literal["auto_funding.skipped"]
    data: AutoFundingSkipped


class ConfirmationRequestedEvent(_Event):
    type: Literal["confirmation.requested"]
    data: ConfirmationRequested


class BalanceLowEvent(_Event):
    type: Literal["balance.low"]
    data: BalanceLow


class PingEvent(_Event):
    """A test call: never stored, and no other call shows it."""

    type: Literal["webhook.test"]
    data: PingData


# `type` says which: a type checker knows the members of `data` after `event["type"] == "…"`.
Event = (
    PaymentEvent
    | FundingSourceUpdatedEvent
    | AutoFundingPausedEvent
    | AutoFundingSkippedEvent
    | ConfirmationRequestedEvent
    | BalanceLowEvent
    | PingEvent
)


Json = dict[str, Any]
