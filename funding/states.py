"""The funding machine: statuses are fixed by the interface, moves by CONTRACT § 4."""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class FundingStatus(models.TextChoices):
    RESERVED = "reserved"
    AWAITING_CONFIRMATION = "awaiting_confirmation"
    PENDING = "pending"
    IN_TRANSIT = "in_transit"
    COMPLETED = "completed"
    FAILED = "failed"


S = FundingStatus

# Money on its way: these make up `pendingBalance`.
IN_FLIGHT = (S.RESERVED, S.AWAITING_CONFIRMATION, S.PENDING, S.IN_TRANSIT)

FUNDING_STATES = StateTable(
    initial=frozenset({S.RESERVED, S.AWAITING_CONFIRMATION}),
    moves={
        S.AWAITING_CONFIRMATION: frozenset({S.RESERVED, S.FAILED}),
        S.RESERVED: frozenset({S.PENDING, S.FAILED}),
        S.PENDING: frozenset({S.IN_TRANSIT, S.FAILED}),
        S.IN_TRANSIT: frozenset({S.COMPLETED, S.FAILED}),
        # Only a late return of the bank undoes a completed funding.
        S.COMPLETED: frozenset({S.FAILED}),
        S.FAILED: frozenset(),
    },
    states=set(S.values),
)
