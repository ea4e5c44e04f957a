"""Money that a payer wants back: its bank asks, the participant answers and gives it back."""

from __future__ import annotations

from devstack.instant import positions, speaking, store
from devstack.instant.clock import written
from devstack.instant.profiles import RETURN
from devstack.instant.reading import Faulty, Resolution, Return
from devstack.instant.speaking import Desk


class NotSettled(ValueError):
    """A payment that cannot be given back."""


def ask(desk: Desk, number: int, *, reason: str) -> int:
    """The payer's bank asks the participant to return a payment (camt.056). Raises NotSettled."""
    row = store.row(desk.db, "payment", number)
    if row["direction"] != "in" or row["settled_at"] is None:
        raise NotSettled("only what the participant has received can be asked back")
    message_id = speaking.return_request(desk, row, reason=reason)
    return store.insert(
        desk.db,
        "return_request",
        profile=desk.profile.name,
        payment_id=number,
        message_id=message_id,
        reason=reason,
    )


def take_resolution(desk: Desk, resolution: Resolution) -> bool:
    """The participant answers (camt.029); whether it was asked."""
    done = desk.db.execute(
        "UPDATE return_request SET status = ?, answer = ?"
        " WHERE profile = ? AND message_id IN (?, ?)",
        (
            resolution.status,
            resolution.reason,
            desk.profile.name,
            resolution.case_id,
            resolution.original_message_id,
        ),
    )
    return done.rowcount > 0


def take(desk: Desk, payment_return: Return, number: int) -> None:
    """The participant gives a payment back (pacs.004): the money moves once. Raises Faulty."""
    original = desk.db.execute(
        "SELECT * FROM payment WHERE profile = ? AND direction = 'in' AND message_id = ?",
        (desk.profile.name, payment_return.original_message_id),
    ).fetchone()
    if original is None or original["settled_at"] is None:
        raise Faulty("NOOR", "there is no such payment")
    given_back = desk.db.execute(
        "SELECT coalesce(sum(amount), 0) FROM payment WHERE returns_id = ?"
        " AND settled_at IS NOT NULL",
        (original["id"],),
    ).fetchone()[0]
    if given_back + payment_return.amount > original["amount"]:
        raise Faulty("AM09", "more than was paid")
    new = store.insert(
        desk.db,
        "payment",
        profile=desk.profile.name,
        direction="out",
        kind=RETURN,
        message_id=payment_return.message_id,
        created_at=written(payment_return.created_at),
        instruction_id=payment_return.message_id,
        end_to_end_id=original["end_to_end_id"],
        amount=payment_return.amount,
        debtor_routing=original["creditor_routing"],
        debtor_account=original["creditor_account"],
        debtor_name=original["creditor_name"],
        creditor_routing=original["debtor_routing"],
        creditor_account=original["debtor_account"],
        creditor_name=original["debtor_name"],
        status="taken",
        reason=payment_return.reason,
        returns_id=original["id"],
    )
    positions.settle(desk.db, store.row(desk.db, "payment", new), desk.profile, desk.now)
    desk.db.execute("UPDATE payment SET code = ? WHERE id = ?", (desk.profile.accepted, new))
    speaking.payment_status(desk, store.row(desk.db, "payment", new), about=number)
