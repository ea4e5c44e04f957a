"""The machines of funding (`docs/funding.md`) and of its sources."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class FundingStatus(models.TextChoices):
    RESERVED = "reserved"
    AWAITING_CONFIRMATION = "awaiting_confirmation", "Needs approval"
    PENDING = "pending", "Submitted"
    IN_TRANSIT = "in_transit", "In transit"
    COMPLETED = "completed"
    FAILED = "failed"


S = FundingStatus

# Money on its way: the sum of these is `pendingBalance`.
IN_FLIGHT = (S.RESERVED, S.AWAITING_CONFIRMATION, S.PENDING, S.IN_TRANSIT)

FUNDING_STATES = StateTable(
    initial=frozenset({S.RESERVED, S.AWAITING_CONFIRMATION}),
    moves={
        S.AWAITING_CONFIRMATION: frozenset({S.RESERVED, S.FAILED}),
        S.RESERVED: frozenset({S.PENDING, S.FAILED}),
        S.PENDING: frozenset({S.IN_TRANSIT, S.FAILED}),
        S.IN_TRANSIT: frozenset({S.COMPLETED, S.FAILED}),
        # Only a late return by the bank takes back a completed funding.
        S.COMPLETED: frozenset({S.FAILED}),
        S.FAILED: frozenset(),
    },
    states=set(S.values),
)


class SourceStatus(models.TextChoices):
    PENDING_VERIFICATION = "pending_verification", "Needs verification"
    ACTIVE = "active"
    VERIFICATION_FAILED = "verification_failed", "Verification failed"
    ERRORED = "errored", "Refused by the bank"
    REMOVED = "removed"


class DepositStatus(models.TextChoices):
    CREATED = "created"
    SENT = "sent"
    COMPLETED = "completed"
    FAILED = "failed"


# Each of the three entries of a verification, by itself.
DEPOSIT_STATES = StateTable(
    initial=frozenset({DepositStatus.CREATED}),
    moves={
        DepositStatus.CREATED: frozenset({DepositStatus.SENT, DepositStatus.FAILED}),
        DepositStatus.SENT: frozenset({DepositStatus.COMPLETED, DepositStatus.FAILED}),
        # A bank may send an entry back at any time.
        DepositStatus.COMPLETED: frozenset({DepositStatus.FAILED}),
        DepositStatus.FAILED: frozenset(),
    },
    states=set(DepositStatus.values),
)

VERIFICATION_TRIES_MAX = 3

SOURCE_STATES = StateTable(
    initial=frozenset({SourceStatus.PENDING_VERIFICATION, SourceStatus.ACTIVE}),
    moves={
        SourceStatus.PENDING_VERIFICATION: frozenset(
            {SourceStatus.ACTIVE, SourceStatus.VERIFICATION_FAILED, SourceStatus.REMOVED}
        ),
        SourceStatus.ACTIVE: frozenset({SourceStatus.ERRORED, SourceStatus.REMOVED}),
        # A source leaves neither status: the account is removed and added again, and verified anew.
        SourceStatus.VERIFICATION_FAILED: frozenset({SourceStatus.REMOVED}),
        SourceStatus.ERRORED: frozenset({SourceStatus.REMOVED}),
        SourceStatus.REMOVED: frozenset(),
    },
    states=set(SourceStatus.values),
)
