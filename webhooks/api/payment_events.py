"""What the body of a payment event holds, per event and direction, for the OpenAPI document."""

from __future__ import annotations

from typing import NamedTuple

from common.money import CURRENCY
from webhooks.api.described import Document, schema_of
from webhooks.bodies import PaymentData

FUNDING_ID = "ftx_01kajq4j2k3m4n5p6q7r8s9t0v"
PAYMENT_ID = "pay_01kajq5a2b3c4d5e6f7g8h9j0k"


class _Move(NamedTuple):
    """The statuses with which an event comes: those of a funding transaction, and those of a
    payment."""

    meaning: str
    statuses_in: tuple[str, ...]
    statuses_out: tuple[str, ...]


MOVES = {
    "payment.created": _Move(
        "Payment created", ("reserved", "awaiting_confirmation"), ("created", "waiting_for_funds")
    ),
    "payment.processing": _Move("Payment submitted for processing", ("pending",), ("processing",)),
    "payment.completed": _Move("Payment successful", ("completed",), ("completed",)),
    "payment.failed": _Move("Payment failed", ("failed",), ("canceled", "failed")),
    "payment.returned": _Move("Payment returned by the bank", ("failed",), ("returned", "failed")),
}
# The statuses that an example has been through when its event is sent.
_SEQUENCE = {
    "payment.created": 1,
    "payment.processing": 2,
    "payment.completed": 3,
    "payment.failed": 2,
    "payment.returned": 4,
}


# Only payments out have these members.
_OF_PAYMENTS = ("method", "methodUsed", "attempts")


def data_schema(name: str) -> Document:
    """The schema of the event's `data`, which is about a funding transaction or a payment."""
    move = MOVES[name]
    return {
        "oneOf": [
            _data("ftx", "in", move.statuses_in, "Money in: a funding transaction."),
            _data("pay", "out", move.statuses_out, "Money out: a payment."),
        ]
    }


def examples(name: str) -> dict[str, Document]:
    """An example of the event's `data` for a funding transaction, and one for a payment."""
    move = MOVES[name]
    return {
        "fundingTransaction": _example(name, FUNDING_ID, "in", move.statuses_in[0]),
        "payment": _example(name, PAYMENT_ID, "out", move.statuses_out[0]),
    }


def _data(prefix: str, direction: str, statuses: tuple[str, ...], description: str) -> Document:
    schema = schema_of(PaymentData)
    for name, narrowed in {
        "paymentId": {"pattern": f"^{prefix}_[0-9a-z]+$"},
        "amount": {"minimum": 1},
        "status": {"enum": list(statuses)},
        "currency": {"const": CURRENCY},
        "direction": {"const": direction},
        "sequence": {"minimum": 1},
    }.items():
        schema["properties"][name] |= narrowed
    del schema["properties"]["direction"]["enum"]
    for name in _OF_PAYMENTS:
        if direction == "in":
            del schema["properties"][name]
        else:
            schema["required"].append(name)
    return {**schema, "description": description}


def _example(name: str, payment_id: str, direction: str, status: str) -> Document:
    is_returned = name == "payment.returned"
    of_a_payment = {"method": "ach_credit", "methodUsed": "ach_credit", "attempts": []}
    failures = {"payment.failed": "canceled", "payment.returned": "R01"}
    return {
        "paymentId": payment_id,
        "amount": 25_000,
        "status": status,
        "currency": CURRENCY,
        "direction": direction,
        "sequence": _SEQUENCE[name],
        "failureCode": failures.get(name),
        "returnCode": "R01" if is_returned else None,
        "network": None,
        **(of_a_payment if direction == "out" else {}),
    }
