"""What seals cover of reconciliation: which accounts two people put in force, and what banks said
of them."""

from __future__ import annotations

from common.sealed import DatedRows
from reconciliation.models import BankStatement, SettlementAccount, StatementLine

_OF_NO_TENANT = "NULL::text"

KINDS = (
    DatedRows(
        name="settlement_accounts",
        label="decided settlement accounts",
        model=SettlementAccount,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id fingerprint last4 format opened_on opening status by_command reason"
            " proposed_by proposed_at decided_by decided_at",
        ),
        left_out="number_token",
    ),
    DatedRows(
        name="bank_statements",
        label="bank statements",
        model=BankStatement,
        at="taken_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id account_id file_id number follows_id name first_day last_day opening credits debits"
            " closing line_count lines_digest taken_at",
        ),
    ),
    DatedRows(
        name="statement_lines",
        label="lines of bank statements",
        model=StatementLine,
        at="taken_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id statement_id position amount booked_on value_on kind type_code return_code"
            " is_reversal references digest taken_at",
        ),
        left_out="said_token",
    ),
)
