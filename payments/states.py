"""The machine of a payment (`docs/payments.md`).

Only a return after completion takes the money back. A return before that ends in `failed`, like
every payment that never arrived, and sets `returned`. An automatic payment that its network refused
is ready to be sent again, by another one (`services.rerouting`).
"""

from __future__ import annotations

from django.db import models

from common.state import StateTable


class PaymentStatus(models.TextChoices):
    WAITING_FOR_FUNDS = "waiting_for_funds", "Waiting for money"
    CREATED = "created", "Ready to send"
    PROCESSING = "processing", "On its way"
    COMPLETED = "completed"
    FAILED = "failed"
    RETURNED = "returned"
    CANCELED = "canceled"


S = PaymentStatus

# Money is set aside for these: their sum is `lockedBalance`.
OPEN = (S.CREATED, S.PROCESSING)

# No network has a payment in one of these, whatever its history.
UNSENT = (S.WAITING_FOR_FUNDS, S.CREATED, S.FAILED, S.CANCELED)

PAYMENT_STATES = StateTable(
    initial=frozenset({S.WAITING_FOR_FUNDS, S.CREATED}),
    moves={
        S.WAITING_FOR_FUNDS: frozenset({S.CREATED, S.CANCELED, S.FAILED}),
        S.CREATED: frozenset({S.PROCESSING, S.CANCELED, S.FAILED}),
        # Back only where the network refused it and another one is tried.
        S.PROCESSING: frozenset({S.CREATED, S.COMPLETED, S.FAILED}),
        S.COMPLETED: frozenset({S.RETURNED}),
        S.FAILED: frozenset(),
        S.RETURNED: frozenset(),
        S.CANCELED: frozenset(),
    },
    states=set(S.values),
)

# The column that says when a payment got into each status. `created_at` may be earlier: it is when
# the row was made.
COLUMN_OF = {
    S.WAITING_FOR_FUNDS: "waiting_for_funds_at",
    S.CREATED: "locked_at",
    S.PROCESSING: "processing_at",
    S.COMPLETED: "completed_at",
    S.FAILED: "failed_at",
    S.RETURNED: "returned_at",
    S.CANCELED: "canceled_at",
}
