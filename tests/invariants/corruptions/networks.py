"""What the bank keeps, and what it told us."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, USUAL, Damage

NETWORKS = [
    Damage(
        "30 the bank debited less than the ledger credits",
        USUAL,
        "funding_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET amount = amount - 1 WHERE external_id = '{f1}'",
    ),
    Damage(
        "30b the bank paid another amount",
        USUAL,
        "payment_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET amount = amount - 1 WHERE external_id = '{p1}'",
    ),
    Damage(
        "30c the bank knows nothing of it",
        USUAL,
        "payment_bank",
        "UPDATE sandbox_bank_sandboxinstruction SET external_id = 'x' WHERE external_id = '{p1}'",
    ),
    Damage(
        "31 settlement's message deleted",
        USUAL,
        "funding_messages",
        "DELETE FROM network_inbox_inboundevent WHERE instruction_id = '{f1}'",
    ),
    Damage(
        "31b payment's settlement has another amount",
        USUAL,
        "payment_messages",
        "UPDATE network_inbox_inboundevent SET amount = amount + 1"
        " WHERE instruction_id = '{p1}' AND kind = 'final'",
    ),
    Damage(
        "31c return's message taken for a settlement",
        USUAL,
        "funding_messages",
        "UPDATE network_inbox_inboundevent SET kind = 'accepted'"
        " WHERE instruction_id = '{fr}' AND kind = 'returned'",
    ),
    Damage(
        "31d a settlement put away by nobody",
        USUAL,
        "funding_messages",
        "UPDATE network_inbox_inboundevent SET outcome = 'resolved', resolution = 'x',"
        " resolved_by = 'usr_eve', resolved_at = now(), next_attempt_at = NULL"
        " WHERE instruction_id = '{ft}'",
    ),
    Damage(
        "43 message never due",
        USUAL,
        "message_never_due",
        "UPDATE network_inbox_inboundevent SET outcome = 'new', next_attempt_at = 'infinity'"
        " WHERE instruction_id = '{f1}' AND kind = 'accepted'",
    ),
    Damage(
        "43b message without a next try",
        REFUSED,
        "new_messages_are_due",
        "UPDATE network_inbox_inboundevent SET outcome = 'new', next_attempt_at = NULL"
        " WHERE instruction_id = '{f1}'",
    ),
]
