"""Errors that somebody planted in the books of ten banking days, or at the bank, and what names
each.

`IN_OUR_BOOKS` are done as the database's owner with all triggers off; the full check names them.
`AT_THE_BANK` are done to its record in the evening, before it writes the statement of the day.
"""

from __future__ import annotations

from typing import NamedTuple


class Planted(NamedTuple):
    """An error in our books, and the code by which the full check names it."""

    name: str
    code: str
    sql: str


class Mistaken(NamedTuple):
    """An error of the bank. The day whose statement is the last of so many `mornings` stays open,
    and `says` is part of the reason."""

    name: str
    says: str
    sql: str
    mornings: int = 1


def _first(table: str, where: str, column: str = "id") -> str:
    return f"(SELECT min({column}) FROM {table} WHERE {where})"


_LINE = "balance_operator_line"
_SETTLED_OUT = _first(_LINE, "step = 'out_settled'")
_CAME_BACK = _first(_LINE, "step = 'in_returned'")
_SETTLED_IN = _first(_LINE, "step = 'in_settled'")
_FINAL = _first("ach_achentry", "status = 'final'")
_RETURN = _first("ach_inrecord", "kind = 'return'")
_CLOSED = "WHERE day = (SELECT min(day) FROM reconciliation_closedday)"
_BY_FILE = _first("reconciliation_match", "rule = 'file'")
_MATCHED = _first("reconciliation_matchedline", "true", "line_id")
_EXPECTED = _first("reconciliation_expectedline", "step = 'in_settled'", "line")

IN_OUR_BOOKS = [
    # --- The operator's lines
    Planted(
        "a cent more came in",
        "funding_books",
        f"UPDATE {_LINE} SET amount = amount + 1 WHERE id = {_SETTLED_IN}",
    ),
    Planted(
        "a cent less went out",
        "payment_books",
        f"UPDATE {_LINE} SET amount = amount - 1 WHERE id = {_SETTLED_OUT}",
    ),
    Planted(
        "a line of the books is missing",
        "funding_books",
        f"DELETE FROM {_LINE} WHERE id = {_SETTLED_IN}",
    ),
    Planted(
        "a line of the books is there twice",
        "books_source",
        f"INSERT INTO {_LINE} (step, amount, rail, source_type, source_id, tenant_id, day,"
        " created_at) SELECT step, amount, rail, source_type, source_id || 'x', tenant_id, day,"
        f" created_at FROM {_LINE} WHERE id = {_SETTLED_IN}",
    ),
    Planted(
        "a line of the books is of a later day",
        "match_expected",
        f"UPDATE {_LINE} SET day = day + 1 WHERE id = {_SETTLED_IN}",
    ),
    Planted(
        "a return is booked as if the money had stayed",
        "funding_books",
        f"DELETE FROM {_LINE} WHERE id = {_CAME_BACK}",
    ),
    # --- Entries, and what came back
    Planted(
        "a return is of another entry",
        "ach_return",
        f"UPDATE ach_inrecord SET entry_id = {_FINAL} WHERE id = {_RETURN}",
    ),
    Planted(
        "an entry has twice its amount",
        "ach_batch_sums",
        f"UPDATE ach_achentry SET amount = amount * 2 WHERE id = {_FINAL}",
    ),
    Planted(
        "an entry settled a day later",
        "ach_entry_untold",
        f"UPDATE ach_achentry SET settlement_date = settlement_date + 1 WHERE id = {_FINAL}",
    ),
    # --- Statements
    Planted(
        "a line of a statement has a cent more",
        "statement_sums",
        "UPDATE reconciliation_statementline SET amount = amount + 1"
        f" WHERE id = {_first('reconciliation_statementline', 'true')}",
    ),
    Planted(
        "a line of a statement is missing",
        "statement_sums",
        f"DELETE FROM reconciliation_statementline WHERE id = {_MATCHED};"
        f"DELETE FROM reconciliation_matchedline WHERE line_id = {_MATCHED}",
    ),
    Planted(
        "a statement has other balances",
        "statement_chain",
        "UPDATE reconciliation_bankstatement SET opening = opening + 1, closing = closing + 1"
        f" WHERE id = {_first('reconciliation_bankstatement', 'true')}",
    ),
    # --- Matches, and what is expected
    Planted(
        "a match has a cent more",
        "match_sums",
        f"UPDATE reconciliation_match SET amount = amount + 1 WHERE id = {_BY_FILE}",
    ),
    Planted(
        "a line of the bank is in another match",
        "match_sums",
        "UPDATE reconciliation_matchedline SET match_id ="
        f" (SELECT max(id) FROM reconciliation_match) WHERE line_id = {_MATCHED}",
    ),
    Planted(
        "a line of the books is not expected",
        "match_missing",
        f"DELETE FROM reconciliation_expectedline WHERE line = {_EXPECTED}",
    ),
    Planted(
        "a line of the books is expected with a cent more",
        "match_expected",
        f"UPDATE reconciliation_expectedline SET amount = amount + 1 WHERE line = {_EXPECTED}",
    ),
    Planted(
        "a line of the books is expected on a later day",
        "day_ledger",
        "UPDATE reconciliation_expectedline SET counts_on = counts_on + 1"
        f" WHERE line = {_EXPECTED}",
    ),
    # --- Closed days
    Planted(
        "a closed day has a cent more in the books",
        "closed_day_comes_to_zero",
        f"UPDATE reconciliation_closedday SET ledger = ledger + 1 {_CLOSED}",
    ),
    Planted(
        "a closed day has a cent more in the books and at the bank",
        "day_chain",
        f"UPDATE reconciliation_closedday SET ledger = ledger + 1, bank = bank + 1 {_CLOSED}",
    ),
    Planted(
        "a closed day has a cent more in the books and in transit",
        "day_ledger",
        "UPDATE reconciliation_closedday SET ledger = ledger + 1, in_transit = in_transit + 1"
        f" {_CLOSED}",
    ),
    Planted(
        "a closed day is missing",
        "day_chain",
        f"DELETE FROM reconciliation_closedday {_CLOSED}",
    ),
    # --- Fees and suspense
    Planted(
        "a fee is a cent less",
        "suspense_booked",
        "UPDATE reconciliation_bookedline SET amount = amount - 1 WHERE booked_as = 'fee'",
    ),
    Planted(
        "a fee is a cent more in the books",
        "suspense_booked",
        f"UPDATE {_LINE} SET amount = amount + 1 WHERE step = 'fee_charged'",
    ),
    Planted(
        "a credit that nobody knew is a fee",
        "suspense_booked",
        "UPDATE reconciliation_bookedline SET booked_as = 'fee' WHERE booked_as = 'suspense'",
    ),
    Planted(
        "a credit that nobody knew is in suspense twice",
        "books_source",
        f"INSERT INTO {_LINE} (step, amount, rail, source_type, source_id, day, created_at)"
        " SELECT step, amount, rail, source_type, source_id || 'x', day, created_at"
        f" FROM {_LINE} WHERE step = 'suspense_credited' LIMIT 1",
    ),
    Planted(
        "one person cleared suspense",
        "clearing_decided_by_another",
        "UPDATE reconciliation_clearing SET decided_by = proposed_by",
    ),
    Planted(
        "a clearing was posted and is rejected",
        "suspense_cleared",
        "UPDATE reconciliation_clearing SET status = 'rejected'",
    ),
]

# Postings of the day of which no statement was written yet.
_TODAY = "id > (SELECT sum(postings) FROM statement) AND kind = '{}'"
_SETTLEMENT, _BACK = _TODAY.format("settlement"), _TODAY.format("return")


def _one(where: str, which: str = "min") -> str:
    return f"(SELECT {which}(id) FROM posting WHERE {where})"


def _changed(change: str, where: str, which: str = "min") -> str:
    return f"UPDATE posting SET {change} WHERE id = {_one(where, which)}"


def _twice(where: str) -> str:
    """One more posting of the same."""
    columns = "day, at, kind, amount, balance, reference, text, return_code, file_id"
    return f"INSERT INTO posting ({columns}) SELECT {columns} FROM posting WHERE id = {_one(where)}"


def _missing(where: str) -> str:
    """One posting less. The numbers of those after it have no gap, as the bank counts on."""
    gone = "(SELECT number FROM gone)"
    return (
        f"CREATE TEMP TABLE gone AS SELECT {_one(where)} AS number;"
        f"DELETE FROM posting WHERE id = {gone};"
        f"UPDATE posting SET id = -id WHERE id > {gone};"
        "UPDATE posting SET id = -id - 1 WHERE id < 0"
    )


_UNEXPLAINED = "Nothing explains {} of the bank"
_ONE, _TWO = _UNEXPLAINED.format("1 line"), _UNEXPLAINED.format("2 lines")
_NOT_SHOWN = "no statement shows"

AT_THE_BANK = [
    Mistaken("settles a file twice", _TWO, _twice(_SETTLEMENT)),
    Mistaken(
        "debits an entry twice",
        _ONE,
        _changed("amount = amount + (SELECT max(effect) FROM entry)", _SETTLEMENT),
    ),
    Mistaken("settles a cent more", _ONE, _changed("amount = amount + 1", _SETTLEMENT)),
    Mistaken("settles a cent less", _ONE, _changed("amount = amount - 1", _SETTLEMENT)),
    Mistaken("takes what it should give", _ONE, _changed("amount = -amount", _SETTLEMENT)),
    Mistaken("does not settle a file", _NOT_SHOWN, _missing(_SETTLEMENT), mornings=4),
    Mistaken("sends money back twice", _TWO, _twice(_BACK)),
    Mistaken("sends a cent more back", _ONE, _changed("amount = amount - 1", _BACK)),
    Mistaken("sends money back of which no line tells", _NOT_SHOWN, _missing(_BACK), mornings=4),
    Mistaken(
        "moves a cent from one return to another",
        _TWO,
        f"{_changed('amount = amount - 1', _BACK)};{_changed('amount = amount + 1', _BACK, 'max')}",
    ),
    Mistaken(
        "sends the money of another entry back",
        _ONE,
        _changed(
            "reference = (SELECT trace FROM entry WHERE status = 'settled' ORDER BY id LIMIT 1)",
            _BACK,
        ),
    ),
    Mistaken(
        "names another file of ours",
        _ONE,
        _changed(
            "reference = (SELECT reference FROM posting WHERE kind = 'settlement')", _SETTLEMENT
        ),
    ),
]
