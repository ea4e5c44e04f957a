"""Suspense and closed days.

`day` is closed. Of its statement's lines one is in suspense (`in_suspense`; `left` at the bank),
and one was cleared by `cleared`.
"""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

_DAY = "UPDATE reconciliation_closedday SET {} WHERE id = '{{day}}'"
_MATCH = "(SELECT match_id FROM reconciliation_matchedline WHERE line_id = {left})"

DAYS = [
    Damage(
        "110 a closed day that does not come to zero",
        REFUSED,
        "closed_day_comes_to_zero",
        _DAY.format("ledger = ledger + 1"),
    ),
    Damage(
        "110b a cent more at the bank and in the books of a closed day",
        USUAL,
        "day_chain",
        _DAY.format("bank = bank + 1, ledger = ledger + 1"),
    ),
    Damage(
        "110c a cent that is moved from the books of a closed day to what is in transit",
        USUAL,
        "day_ledger",
        _DAY.format("ledger = ledger + 1, in_transit = in_transit + 1"),
    ),
    Damage(
        "110d a closed day of another date",
        USUAL,
        "day_chain",
        _DAY.format("day = day + 1"),
    ),
    Damage(
        "110e one match less in a closed day",
        USUAL,
        "day_ledger",
        _DAY.format("matches = matches - 1"),
    ),
    Damage(
        "110f the last closed day deleted",
        SEAL,
        "seal_rows",
        "DELETE FROM reconciliation_closedday WHERE id = '{day}'",
    ),
    Damage(
        "111 a line in transit that is not",
        USUAL,
        "day_in_transit",
        "INSERT INTO reconciliation_intransit (day_id, line, amount) VALUES ('{day}', 1, 5)",
    ),
    Damage(
        "112 a line of the books taken out of a closed day",
        USUAL,
        "day_ledger",
        "UPDATE reconciliation_expectedline SET counts_on = counts_on + 1"
        f" WHERE match_id = {_MATCH}",
    ),
    Damage(
        "112b a line of a closed statement set free",
        USUAL,
        "day_unmatched",
        "UPDATE reconciliation_matchedline SET match_id = NULL WHERE line_id = {left}",
    ),
    Damage(
        "112c a match of a closed day voided later",
        USUAL,
        "day_touched",
        "UPDATE reconciliation_match SET voided_at = now() + interval '1 hour', voided_by = 'x',"
        f" voided_why = 'x' WHERE id = {_MATCH}",
    ),
    Damage(
        "113 another amount in suspense",
        USUAL,
        "suspense_booked",
        "UPDATE reconciliation_bookedline SET amount = amount - 1 WHERE id = '{in_suspense}'",
    ),
    Damage(
        "113b a line in suspense that becomes a fee",
        USUAL,
        "suspense_booked",
        "UPDATE reconciliation_bookedline SET booked_as = 'fee' WHERE id = '{in_suspense}'",
    ),
    Damage(
        "114 a clearing that one person decided",
        REFUSED,
        "clearing_decided_by_another",
        "UPDATE reconciliation_clearing SET decided_by = proposed_by WHERE id = '{cleared}'",
    ),
    Damage(
        "114b a clearing that is undone after it was posted",
        USUAL,
        "suspense_cleared",
        "UPDATE reconciliation_clearing SET status = 'rejected' WHERE id = '{cleared}'",
    ),
    Damage(
        "114c a clearing of another kind than what was posted",
        USUAL,
        "suspense_cleared",
        "UPDATE reconciliation_clearing SET kind = 'fee' WHERE id = '{cleared}'",
    ),
    Damage(
        "114d a clearing that leads to another line",
        USUAL,
        "suspense_cleared",
        "UPDATE reconciliation_clearing SET booked_id = '{in_suspense}' WHERE id = '{cleared}'",
    ),
    Damage(
        "114e a line of the operator that clears suspense by nobody's word",
        USUAL,
        "suspense_open",
        "INSERT INTO balance_operator_line (step, amount, rail, source_type, source_id, day,"
        " created_at) SELECT 'cleared_as_fee', amount, rail, source_type, source_id || 'x', day,"
        " created_at FROM balance_operator_line WHERE source_id = '{cleared}'",
    ),
]
