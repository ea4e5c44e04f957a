"""Proofs of funds: their reports, trees and leaves. There is one report, of two live tenants."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

SOLVENCY = [
    Damage(
        "93 a cent more in a proof of funds",
        USUAL,
        "proof_signature",
        "UPDATE solvency_proofreport SET content ="
        " regexp_replace(content, '\"available\":\\d', '\"available\":9')",
    ),
    Damage(
        "93b a proof under a key that nobody published",
        USUAL,
        "proof_signature",
        "UPDATE solvency_proofreport SET key_id = 'other'",
    ),
    Damage(
        "93c a proof of another day",
        USUAL,
        "proof_chain",
        "UPDATE solvency_proofreport SET day = day + 1",
    ),
    Damage(
        "93d the digest of a proof",
        USUAL,
        "proof_chain",
        "UPDATE solvency_proofreport SET digest = repeat('0', 64)",
    ),
    Damage(
        "93e the moment of a proof",
        USUAL,
        "proof_chain",
        "UPDATE solvency_proofreport SET taken_at = taken_at + interval '1 second'",
    ),
    Damage(
        "93f a proof removed",
        SEAL,
        "seal_rows",
        "DELETE FROM solvency_proofleaf; DELETE FROM solvency_prooftree;"
        "DELETE FROM solvency_proofreport",
    ),
    Damage(
        "94 a cent more in a leaf",
        USUAL,
        "proof_tree",
        "UPDATE solvency_proofleaf SET settled = settled + 1",
    ),
    Damage(
        "94b a cent less in a leaf than in the ledger",
        USUAL,
        "proof_leaf",
        "UPDATE solvency_proofleaf SET available = available - 1 WHERE available > 0",
    ),
    Damage(
        "94c the leaves of a proof deleted", USUAL, "proof_tree", "DELETE FROM solvency_proofleaf"
    ),
    Damage(
        "94d leaves in other places",
        USUAL,
        "proof_tree",
        'UPDATE solvency_proofleaf SET "index" = "index" + 10',
    ),
    Damage(
        "94e a balance below zero that was none",
        USUAL,
        "proof_tree",
        "UPDATE solvency_proofleaf SET overdrawn = 5 WHERE available = 0",
    ),
    Damage(
        "94f a balance below zero with something to spend",
        REFUSED,
        "leaf_overdrawn_has_nothing",
        "UPDATE solvency_proofleaf SET overdrawn = 5 WHERE available > 0",
    ),
    Damage(
        "94g a leaf below zero",
        REFUSED,
        "leaf_amounts_not_negative",
        "UPDATE solvency_proofleaf SET settled = -1",
    ),
    Damage(
        "94h a leaf of another moment",
        USUAL,
        "proof_leaf",
        "UPDATE solvency_proofleaf SET sequence = sequence - 1 WHERE sequence > 0",
    ),
    Damage(
        "95 the secret of the salts",
        USUAL,
        "proof_tree",
        "UPDATE solvency_prooftree SET secret_token = 'dev2:' || secret_token",
    ),
    Damage(
        "95b a node of the tree",
        USUAL,
        "proof_tree",
        "UPDATE solvency_prooftree SET nodes = set_byte(nodes, 60, 255 - get_byte(nodes, 60))",
    ),
    Damage("95c no tree", USUAL, "proof_tree", "DELETE FROM solvency_prooftree"),
]
