"""Answers a participant that asks what became of a payment (pacs.028)."""

from __future__ import annotations

from devstack.instant import payments, speaking
from devstack.instant.clock import read
from devstack.instant.profiles import STATUS_REQUEST
from devstack.instant.reading import Question
from devstack.instant.speaking import Desk
from devstack.instant.writing import Original

NOT_FOUND = "NOOR"


def take(desk: Desk, question: Question, number: int) -> None:
    """What is true of the payment now. A payment that never came is told as a rejection of the
    question, with NOOR. Who asks too early is refused by admi.002."""
    row = desk.db.execute(
        "SELECT * FROM payment WHERE profile = ? AND message_id = ?",
        (desk.profile.name, question.original_message_id),
    ).fetchone()
    if row is None:
        _not_found(desk, question, number)
    elif (desk.now - read(row["created_at"])).total_seconds() < desk.terms.ask_after:
        text = f"ask {desk.terms.ask_after:.0f} seconds after the payment at the earliest"
        speaking.rejection(desk, question.message_id, "TOO_EARLY", text, about=number)
    else:
        payments.tell(desk, row["message_id"], about=number)


def _not_found(desk: Desk, question: Question, number: int) -> None:
    original = Original(
        question.message_id,
        STATUS_REQUEST,
        question.created_at,
        question.instruction_id,
        question.end_to_end_id,
    )
    speaking.status(desk, original, "RJCT", reason=NOT_FOUND, about=number)
