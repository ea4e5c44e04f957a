"""The API's objects, as they come over the wire."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Method = Literal["ach_debit", "rtp"]
FundingStatus = Literal[
    "reserved", "awaiting_confirmation", "pending", "in_transit", "completed", "failed"
]
PaymentMethod = Literal["ach_credit", "rtp"]
PaymentStatus = Literal[
    "waiting_for_funds", "created", "processing", "completed", "failed", "returned", "canceled"
]


class BalanceSummary(TypedDict):
    availableBalance: int
    pendingBalance: int
    lockedBalance: int
    currency: str


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
    fundingSourceId: str
    trigger: Literal["topup", "auto_funding", "staff"]
    createdBy: dict[str, str | None]
    description: str | None
    metadata: dict[str, str]
    requiresConfirmation: bool
    confirmationExpiresAt: str | None
    approval: Approval | None
    expectedAvailabilityDate: str | None
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


class Payment(TypedDict):
    id: str
    amount: int
    currency: str
    status: PaymentStatus
    method: PaymentMethod
    recipient: PaidAccount
    recipientId: str | None
    createdBy: dict[str, str | None]
    description: str | None
    metadata: dict[str, str]
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
    secret: str
    createdAt: str


class EventData(TypedDict, total=False):
    paymentId: str
    amount: int
    status: str
    currency: str
    direction: Literal["in", "out"]
    sequence: int
    failureCode: str | None
    returnCode: str | None


class Event(TypedDict):
    id: str
    type: str
    data: EventData
    timestamp: str


Json = dict[str, Any]
