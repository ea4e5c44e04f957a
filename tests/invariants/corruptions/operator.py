"""The operator's lines, and the stored totals of their days."""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

_INVENTED = """
INSERT INTO balance_operator_line (step, amount, rail, source_type, source_id, tenant_id, day,
    created_at)
SELECT step, amount, rail, {kind}, 'ftx_none', tenant_id, day, created_at
FROM balance_operator_line WHERE source_id = '{{f1}}' AND step = 'in_settled'
"""

OPERATOR = [
    Damage(
        "operator's line: amount",
        USUAL,
        "books_clearing",
        "UPDATE balance_operator_line SET amount = amount + 1"
        " WHERE source_id = '{f1}' AND step = 'in_final'",
    ),
    Damage(
        "operator's line: amount that concerns no tenant's line",
        USUAL,
        "funding_books",
        "UPDATE balance_operator_line SET amount = amount + 1"
        " WHERE source_id = '{f1}' AND step = 'in_settled'",
    ),
    Damage(
        "operator's line: settlement deleted",
        USUAL,
        "funding_books",
        "DELETE FROM balance_operator_line WHERE source_id = '{f1}' AND step = 'in_settled'",
    ),
    Damage(
        "operator's line: all of a funding deleted",
        USUAL,
        "funding_books",
        "DELETE FROM balance_operator_line WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: those of adjustments deleted",
        USUAL,
        "suspense_open",
        "DELETE FROM balance_operator_line WHERE source_type = 'adjustment'",
    ),
    Damage(
        "operator's line: at another bank",
        USUAL,
        "funding_books",
        "UPDATE balance_operator_line SET rail = 'elsewhere' WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: of another tenant",
        USUAL,
        "books_source",
        "UPDATE balance_operator_line SET tenant_id = '{t2}' WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: of a funding that does not exist",
        USUAL,
        "books_source",
        _INVENTED.format(kind="source_type"),
    ),
    Damage(
        "operator's line: of a kind unknown", USUAL, "books_source", _INVENTED.format(kind="'gift'")
    ),
    Damage(
        "operator's line: banking day",
        SEAL,
        "seal_rows",
        "UPDATE balance_operator_line SET day = day - 1 WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: another step",
        USUAL,
        "funding_books",
        "UPDATE balance_operator_line SET step = 'in_returned'"
        " WHERE source_id = '{f1}' AND step = 'in_settled'",
    ),
    Damage(
        "operator's line: no step",
        REFUSED,
        "operator_line_is_sound",
        "UPDATE balance_operator_line SET step = 'gift' WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: the same step twice",
        REFUSED,
        "operator_line_once",
        "UPDATE balance_operator_line SET step = 'in_final' WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: no tenant",
        REFUSED,
        "operator_line_is_sound",
        "UPDATE balance_operator_line SET tenant_id = NULL WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's line: no rail",
        REFUSED,
        "operator_line_is_sound",
        "UPDATE balance_operator_line SET rail = '' WHERE source_id = '{f1}'",
    ),
    Damage(
        "operator's day: amount",
        USUAL,
        "suspense_open",
        "UPDATE balance_operator_day SET amount = amount + 1 WHERE step = 'adjusted_up'",
    ),
    Damage(
        "operator's day: more is final than ever settled",
        USUAL,
        "books_negative",
        "INSERT INTO balance_operator_day (booked_on, rail, step, lines, amount)"
        " SELECT max(booked_on), 'sandbox', 'in_final', 1, 10000000000 FROM balance_operator_day"
        " HAVING max(booked_on) IS NOT NULL",
    ),
]
