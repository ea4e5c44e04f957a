"""Matches of bank statements with the books. `mat` ties a line of 5,000 cents to the line that was
booked for it."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

MATCHES = [
    Damage(
        "94 a cent more on a match",
        USUAL,
        "match_sums",
        "UPDATE reconciliation_match SET amount = amount + 1 WHERE id = '{mat}'",
    ),
    Damage(
        "94b a line of the bank taken out of a match",
        USUAL,
        "match_sums",
        "UPDATE reconciliation_matchedline SET match_id = NULL WHERE match_id = '{mat}'",
    ),
    Damage(
        "94c a line of the books taken out of a match",
        USUAL,
        "match_sums",
        "UPDATE reconciliation_expectedline SET match_id = NULL WHERE match_id = '{mat}'",
    ),
    Damage(
        "94d a match that is voided and keeps its lines",
        USUAL,
        "match_sums",
        "UPDATE reconciliation_match SET voided_at = made_at, voided_by = 'x', voided_why = 'x'"
        " WHERE id = '{mat}'",
    ),
    Damage(
        "94e a match of another day",
        USUAL,
        "match_places",
        "UPDATE reconciliation_match SET day = day + 1 WHERE id = '{mat}'",
    ),
    Damage(
        "94f a cent more on what the books expect",
        USUAL,
        "match_expected",
        "UPDATE reconciliation_expectedline SET amount = amount + 1 WHERE match_id = '{mat}'",
    ),
    Damage(
        "94g an expected line that the books do not have",
        USUAL,
        "match_expected",
        "INSERT INTO reconciliation_expectedline (line, rail_id, step, amount, counts_on, file,"
        " trace, reference, taken_at) SELECT line + 1000000, rail_id, step, amount, counts_on,"
        " file, trace, reference, taken_at FROM reconciliation_expectedline"
        " WHERE match_id = '{mat}'",
    ),
    Damage(
        "94h a match by a person who says nothing",
        REFUSED,
        "match_by_hand_says_why",
        "UPDATE reconciliation_match SET rule = 'person', reason = '' WHERE id = '{mat}'",
    ),
    Damage(
        "94i who made a match",
        SEAL,
        "seal_rows",
        "UPDATE reconciliation_match SET made_by = 'x' WHERE id = '{mat}'",
    ),
]
