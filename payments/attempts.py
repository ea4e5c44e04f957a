"""By which ways a payment was tried, one after the other: the refused ones and the one in use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from payments import selectors
from payments.methods import METHODS
from payments.models import Payment, PaymentAttempt
from payments.states import PaymentStatus


class Outcome(StrEnum):
    PENDING = "pending"  # handed over, or perhaps: it is not known yet what becomes of it
    COMPLETED = "completed"
    REFUSED = "refused"  # no money moved
    RETURNED = "returned"


_OUTCOMES = {
    PaymentStatus.CREATED: Outcome.PENDING,
    PaymentStatus.PROCESSING: Outcome.PENDING,
    PaymentStatus.COMPLETED: Outcome.COMPLETED,
    PaymentStatus.RETURNED: Outcome.RETURNED,
    PaymentStatus.FAILED: Outcome.REFUSED,
}


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """One way. `network` is the instant network that carries it; None for ACH. `started_at` is when
    its rail took it over, None where it did not or has not answered; `ended_at` when it was over.
    """

    number: int
    method: str
    network: str | None
    outcome: Outcome
    code: str
    started_at: datetime | None
    ended_at: datetime | None


def of(payment: Payment) -> list[Attempt]:
    """The ways of one payment, the first one first. A query where it was refused and `selectors`
    did not read the refused tries with it."""
    if payment.tries == 1:
        return _with_the_last(payment, ())
    return _with_the_last(payment, selectors.refused_tries(payment))


def of_many(payments: Collection[Payment]) -> Mapping[str, list[Attempt]]:
    """`of` for each of these payments, by its id. One query where one of them was refused."""
    again = [payment.pk for payment in payments if payment.tries > 1]
    refused = selectors.refused_tries_of(again) if again else {}
    return {each.pk: _with_the_last(each, refused.get(each.pk, ())) for each in payments}


def _with_the_last(payment: Payment, refused: Sequence[PaymentAttempt]) -> list[Attempt]:
    found = [_refused(each) for each in refused]
    return [*found, _in_use(payment)] if payment.was_tried else found


def _refused(row: PaymentAttempt) -> Attempt:
    return Attempt(
        number=row.number,
        method=str(row.method),
        network=METHODS.carrier(row.method, row.network),
        outcome=Outcome.REFUSED,
        code=row.code,
        started_at=row.sent_at,
        ended_at=row.ended_at,
    )


def _in_use(payment: Payment) -> Attempt:
    outcome = Outcome.RETURNED if payment.returned else _OUTCOMES[PaymentStatus(payment.status)]
    ended = {
        Outcome.PENDING: None,
        Outcome.COMPLETED: payment.completed_at,
        Outcome.REFUSED: payment.failed_at,
        Outcome.RETURNED: payment.returned_at,
    }
    return Attempt(
        number=payment.tries,
        method=str(payment.method),
        network=METHODS.carrier(payment.method, payment.network),
        outcome=outcome,
        code=payment.failure_code or payment.return_code,
        started_at=payment.processing_at,
        ended_at=ended[outcome],
    )
