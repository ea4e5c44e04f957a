"""Our accounts at banks, what banks say of them, and the lines.

`st1` and `st2` are the statements of two days of the account `sac`, `stf` the file of the second.
"""

from __future__ import annotations

from tests.invariants.corruptions.damage import REFUSED, SEAL, USUAL, Damage

_LINE = "WHERE statement_id = '{st2}' AND amount = 20"

STATEMENTS = [
    Damage(
        "90 a cent more on a line of a bank statement",
        USUAL,
        "statement_sums",
        f"UPDATE reconciliation_statementline SET amount = amount + 1 {_LINE}",
    ),
    Damage(
        "90b two lines of a bank statement that change places",
        USUAL,
        "statement_bytes",
        "UPDATE reconciliation_statementline SET amount = 50 - amount WHERE statement_id = '{st2}'",
    ),
    Damage(
        "90c a line of a bank statement deleted",
        USUAL,
        "statement_sums",
        f"DELETE FROM reconciliation_statementline {_LINE}",
    ),
    Damage(
        "90d a line that no bank sent",
        USUAL,
        "statement_sums",
        "INSERT INTO reconciliation_statementline (statement_id, position, amount, booked_on, kind,"
        ' type_code, return_code, is_reversal, "references", digest, said_token, taken_at)'
        " SELECT statement_id, 99, 1, booked_on, kind, type_code, return_code, is_reversal,"
        " \"references\", repeat('0', 64), '', taken_at FROM reconciliation_statementline"
        f" {_LINE}",
    ),
    Damage(
        "90e the kind of a line",
        USUAL,
        "statement_bytes",
        f"UPDATE reconciliation_statementline SET kind = 'fee' {_LINE}",
    ),
    Damage(
        "90f a reference of a line",
        USUAL,
        "statement_bytes",
        f"UPDATE reconciliation_statementline SET \"references\" = '{{{{}}}}' {_LINE}",
    ),
    Damage(
        "91 a bank statement that does not add up",
        REFUSED,
        "statement_adds_up",
        "UPDATE reconciliation_bankstatement SET closing = closing + 1 WHERE id = '{st2}'",
    ),
    Damage(
        "91b a bank statement with other balances",
        USUAL,
        "statement_chain",
        "UPDATE reconciliation_bankstatement SET opening = opening + 1, closing = closing + 1"
        " WHERE id = '{st2}'",
    ),
    Damage(
        "91c another balance at which an account begins",
        USUAL,
        "statement_chain",
        "UPDATE reconciliation_settlementaccount SET opening = opening + 1 WHERE id = '{sac}'",
    ),
    Damage(
        "91d a bank statement that follows none",
        REFUSED,
        "one_first_statement",
        "UPDATE reconciliation_bankstatement SET follows_id = NULL WHERE id = '{st2}'",
    ),
    Damage(
        "91e the day of a bank statement",
        USUAL,
        "statement_bytes",
        "UPDATE reconciliation_bankstatement SET last_day = last_day + 1 WHERE id = '{st2}'",
    ),
    Damage(
        "91f the newest bank statement deleted with its lines",
        USUAL,
        "statement_chain",
        "DELETE FROM reconciliation_statementline WHERE statement_id = '{st2}';"
        "DELETE FROM reconciliation_bankstatement WHERE id = '{st2}'",
    ),
    Damage(
        "91g a bank statement that nobody will read",
        USUAL,
        "statement_forgotten",
        "DELETE FROM reconciliation_statementline WHERE statement_id = '{st2}';"
        "DELETE FROM reconciliation_bankstatement WHERE id = '{st2}';"
        "UPDATE ach_infile SET status = 'stored', next_attempt_at = NULL WHERE id = '{stf}'",
    ),
    Damage(
        "91h the bytes of a bank statement",
        USUAL,
        "statement_bytes",
        "UPDATE ach_infilechunk SET content_token = 'x' WHERE file_id = '{stf}'",
    ),
    Damage(
        "91i an uploaded bank statement that one person had taken",
        USUAL,
        "statement_alone",
        "UPDATE ach_infile SET uploaded_by = 'usr_x' WHERE id = '{stf}'",
    ),
    Damage(
        "91j a bank statement that waits for nobody",
        REFUSED,
        "waiting_in_file_was_uploaded",
        "UPDATE ach_infile SET status = 'waiting' WHERE id = '{stf}'",
    ),
    Damage(
        "92 an account that its proposer put in force",
        REFUSED,
        "settlement_account_decided_by_another",
        "UPDATE reconciliation_settlementaccount SET status = 'current', decided_by = proposed_by,"
        " decided_at = proposed_at WHERE id = '{sac_proposed}'",
    ),
    Damage(
        "92b another account behind a rail",
        SEAL,
        "seal_rows",
        "UPDATE reconciliation_settlementaccount SET last4 = '0000' WHERE id = '{sac}'",
    ),
]
