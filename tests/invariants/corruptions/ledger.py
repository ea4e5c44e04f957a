"""A tenant's lines, balance, checkpoints and corrections."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage, forged

_SHIFT = """
UPDATE balance_transaction SET amount = amount + 100, available_delta = available_delta + 100,
    available_after = available_after + 100 WHERE tenant_id = '{t}' AND sequence = {s1};
UPDATE balance_transaction SET available_after = available_after + 100
    WHERE tenant_id = '{t}' AND sequence > {s1};
UPDATE balance SET available = available + 100 WHERE tenant_id = '{t}'
"""

LEDGER = [
    Damage(
        "01 amount of a line",
        REFUSED,
        "balance_transaction_is_sound",
        "UPDATE balance_transaction SET amount = amount + 1"
        " WHERE tenant_id = '{t}' AND sequence = {s1}",
    ),
    Damage("02 amount, deltas and balances after", USUAL, "funding_postings", _SHIFT),
    Damage(
        "03 as 02, and the funding's amount",
        USUAL,
        "ledger_sum",
        _SHIFT + ";UPDATE funding_fundingtransaction SET amount = amount + 100 WHERE id = '{f1}'",
    ),
    Damage(
        "04 as 03, and the checkpoint deleted",
        USUAL,
        "funding_bank",
        _SHIFT + ";UPDATE funding_fundingtransaction SET amount = amount + 100 WHERE id = '{f1}'"
        ";DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "05 last line deleted",
        USUAL,
        "ledger_last_row",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}' AND sequence = {last}",
    ),
    Damage(
        "06 line in between deleted",
        USUAL,
        "funding_postings",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}' AND sequence = {s1}",
    ),
    Damage(
        "07 all of a tenant's ledger deleted",
        USUAL,
        "funding_postings",
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}';"
        "DELETE FROM balance WHERE tenant_id = '{t}';"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "08 numbers of two lines swapped",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET sequence = -1 WHERE tenant_id = '{t}' AND sequence = 1;"
        "UPDATE balance_transaction SET sequence = 1 WHERE tenant_id = '{t}' AND sequence = 2;"
        "UPDATE balance_transaction SET sequence = 2 WHERE tenant_id = '{t}' AND sequence = -1",
    ),
    Damage(
        "09 causes of two lines swapped",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET source_id = 'x' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "UPDATE balance_transaction SET source_id = '{f1}' WHERE tenant_id = '{t}'"
        " AND sequence = {s2};"
        "UPDATE balance_transaction SET source_id = '{f2}' WHERE tenant_id = '{t}'"
        " AND sequence = {s1}",
    ),
    Damage(
        "10 forged credit by staff",
        USUAL,
        "adjustment_missing",
        forged("adjustment", "adj_nobody"),
    ),
    Damage("11 forged credit of a kind unknown", USUAL, "ledger_source", forged("gift", "x")),
    Damage(
        "12 forged credit for a funding unknown",
        USUAL,
        "funding_posting_orphan",
        forged("funding_transaction", "ftx_none"),
    ),
    Damage(
        "13 available",
        USUAL,
        "ledger_sum",
        "UPDATE balance SET available = available + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "14 pending",
        USUAL,
        "funding_pending",
        "UPDATE balance SET pending = pending + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "15 locked",
        USUAL,
        "payment_locked",
        "UPDATE balance SET locked = locked + 1 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "25 line moved to another tenant",
        USUAL,
        "ledger_last_row",
        "UPDATE balance_transaction SET tenant_id = '{t2}', sequence = 99"
        " WHERE tenant_id = '{t}' AND sequence = {last}",
    ),
    Damage(
        "26 description of an old line",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET description = 'x' WHERE tenant_id = '{t}' AND sequence = 1",
    ),
    Damage(
        "27 time of an old line",
        DAILY,
        "ledger_rewritten",
        "UPDATE balance_transaction SET created_at = created_at - interval '1 second'"
        " WHERE tenant_id = '{t}' AND sequence = 1",
    ),
    Damage(
        "26b and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET description = 'x'"
        " WHERE tenant_id = '{t}' AND sequence = 1;"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "27b time of an old line, and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET created_at = created_at - interval '1 second'"
        " WHERE tenant_id = '{t}' AND sequence = 1;"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "09b causes of two lines swapped, and the checkpoint deleted",
        SEAL,
        "seal_rows",
        "UPDATE balance_transaction SET source_id = 'x' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "UPDATE balance_transaction SET source_id = '{f1}' WHERE tenant_id = '{t}'"
        " AND sequence = {s2};"
        "UPDATE balance_transaction SET source_id = '{f2}' WHERE tenant_id = '{t}'"
        " AND sequence = {s1};"
        "DELETE FROM balance_checkpoint WHERE tenant_id = '{t}'",
    ),
    Damage(
        "28 correction deleted",
        USUAL,
        "books_source",
        "DELETE FROM balance_adjustment WHERE id = '{adj}'",
    ),
    Damage(
        "29 amount of a correction",
        USUAL,
        "adjustment_differs",
        "UPDATE balance_adjustment SET amount = amount + 1 WHERE id = '{adj}'",
    ),
    Damage(
        "36 checkpoint that lies",
        USUAL,
        "ledger_sum",
        "UPDATE balance_checkpoint SET available = available + 5 WHERE tenant_id = '{t}'",
    ),
    Damage(
        "27c last line dated next year, and the balance with it",
        USUAL,
        "ledger_ahead",
        "UPDATE balance_transaction SET created_at = now() + interval '400 days'"
        " WHERE tenant_id = '{t}' AND sequence = {last};"
        "UPDATE balance SET posted_at = now() + interval '400 days' WHERE tenant_id = '{t}'",
    ),
    Damage(
        "48 stored total of a month that is over",
        DAILY,
        "closed_month",
        "UPDATE balance_closed_month_total SET available_delta = available_delta + 1"
        " WHERE tenant_id = '{t2}' AND type = 'credit'",
    ),
    Damage(
        "48b moved from one type to another, so that the sums are right",
        DAILY,
        "closed_month",
        "UPDATE balance_closed_month_total SET available_delta = available_delta"
        " + CASE type WHEN 'credit' THEN 7 ELSE -7 END WHERE tenant_id = '{t2}'",
    ),
    Damage(
        "48c one type deleted",
        DAILY,
        "closed_month",
        "DELETE FROM balance_closed_month_total WHERE tenant_id = '{t2}' AND type = 'debit'",
    ),
    Damage(
        "48d one type called something that nobody knows",
        DAILY,
        "closed_month",
        "UPDATE balance_closed_month_total SET type = 'gift'"
        " WHERE tenant_id = '{t2}' AND type = 'debit'",
    ),
    Damage(
        "48e a type that nobody knows beside the true ones",
        DAILY,
        "closed_month",
        "INSERT INTO balance_closed_month_total (tenant_id, first, type, lines, available_delta,"
        " locked_delta) SELECT DISTINCT tenant_id, first, 'gift', 0, 0, 0"
        " FROM balance_closed_month_total WHERE tenant_id = '{t2}'",
    ),
    Damage(
        "48f of a month without lines",
        DAILY,
        "closed_month",
        "INSERT INTO balance_closed_month_total (tenant_id, first, type, lines, available_delta,"
        " locked_delta) VALUES ('{t}', '2020-01-01', 'credit', 1, 5, 0)",
    ),
    Damage(
        "48g said to be of another month",
        DAILY,
        "closed_month",
        "UPDATE balance_closed_month_total SET first = first - interval '1 month'"
        " WHERE tenant_id = '{t2}'",
    ),
]
