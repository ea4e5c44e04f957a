"""By what an account is proven and debited: the deposits to it, and the word of its holder. `vd` is
the debit of the deposits to a proven account, `vu` a deposit that is to be sent; `fl` is a live
tenant's debit by `dal`."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage

PROOFS = [
    Damage(
        "82 a deposit of another amount",
        DAILY,
        "funding_deposit",
        "UPDATE funding_depositentry SET amount = amount + 1 WHERE id = '{vu}'",
    ),
    Damage(
        "82b a deposit of a dollar",
        REFUSED,
        "deposit_is_a_part",
        "UPDATE funding_depositentry SET amount = 100 WHERE id = '{vu}'",
    ),
    Damage(
        "82c a deposit to another account",
        DAILY,
        "funding_deposit",
        "UPDATE funding_depositentry SET source_id = '{src}' WHERE id = '{vu}'",
    ),
    Damage(
        "82d a deposit by another bank",
        SEAL,
        "seal_rows",
        "UPDATE funding_depositentry SET network = 'first_bank' WHERE id = '{vu}'",
    ),
    Damage(
        "82e a deposit, gone",
        DAILY,
        "funding_deposit",
        "DELETE FROM funding_depositentry WHERE id = '{vu}'",
    ),
    Damage(
        "82f a deposit that is never due",
        DAILY,
        "funding_deposit_never_due",
        "UPDATE funding_depositentry SET next_attempt_at = NULL WHERE id = '{vu}'",
    ),
    Damage(
        "82g a deposit kept back by a switch that stops somebody else",
        DAILY,
        "funding_deposit_never_due",
        "UPDATE funding_depositentry SET parked_for = '{switch_in}' WHERE id = '{vu}'",
    ),
    Damage(
        "82h a deposit is said to be sent",
        DAILY,
        "funding_deposit_bank",
        "UPDATE funding_depositentry SET status = 'sent', next_attempt_at = NULL WHERE id = '{vu}'",
    ),
    Damage(
        "82i a deposit is said to have arrived",
        DAILY,
        "funding_deposit",
        "UPDATE funding_depositentry SET status = 'completed', next_attempt_at = NULL"
        " WHERE id = '{vu}'",
    ),
    Damage(
        "82j what the bank calls a deposit",
        DAILY,
        "funding_deposit_bank",
        "UPDATE funding_depositentry SET network_reference = 'SBX9' WHERE id = '{vd}'",
    ),
    Damage(
        "83 a debit whose authorization nobody looked at",
        USUAL,
        "funding_unauthorized",
        "UPDATE funding_authorizeddebit SET in_force_at = NULL WHERE funding_id = '{fl}'",
    ),
    Damage(
        "83b a debit by the authorization of another account",
        USUAL,
        "funding_unauthorized",
        "UPDATE funding_authorizeddebit SET authorization_id = '{dao}' WHERE funding_id = '{fl}'",
    ),
    Damage(
        "83c a debit of which nobody says by what authorization",
        USUAL,
        "funding_unauthorized",
        "DELETE FROM funding_authorizeddebit WHERE funding_id = '{fl}'",
    ),
    Damage(
        "83d a debit of another kind than was agreed",
        USUAL,
        "funding_unauthorized",
        "UPDATE funding_authorizeddebit SET kind = 'single' WHERE funding_id = '{fl}'",
    ),
    Damage(
        "83e a first debit that is called a retry",
        SEAL,
        "seal_rows",
        "UPDATE funding_authorizeddebit SET is_retry = true WHERE funding_id = '{fl}'",
    ),
    Damage(
        "83f an authorization that ended before its debit was sent",
        USUAL,
        "funding_unauthorized",
        "UPDATE funding_debitauthorization SET ended_at = created_at, ended_because = 'revoked',"
        " ended_by_type = 'user' WHERE id = '{dal}'",
    ),
    Damage(
        "83g a debit that was looked at before anybody agreed",
        USUAL,
        "funding_unauthorized",
        "UPDATE funding_authorizeddebit SET in_force_at = in_force_at - interval '1 day'"
        " WHERE funding_id = '{fl}'",
    ),
]
