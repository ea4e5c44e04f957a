"""What seals cover of reconciliation: which accounts two people put in force, what banks said of
them, what of that was booked and cleared, which days are closed, and what people noted for it.

What was in transit is no row of its own time; the audit recomputes it. Expected lines and what
belongs to a match are not sealed either: the audit compares the first with the operator's sealed
lines, and the second with the sealed sums and counts of the match.
"""

from __future__ import annotations

from common.sealed import DatedRows
from reconciliation.models import (
    BankStatement,
    BookedLine,
    Clearing,
    ClosedDay,
    Match,
    SettlementAccount,
    StatementLine,
    TransitNote,
)

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
    DatedRows(
        name="statement_matches",
        label="matches of bank statements",
        model=Match,
        at="made_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id rule day amount statement_lines expected_lines made_at made_by reason",
        ),
        left_out="voided_at voided_by voided_why",
    ),
    DatedRows(
        name="booked_lines",
        label="booked lines of bank statements",
        model=BookedLine,
        at="booked_at",
        tenant=_OF_NO_TENANT,
        layouts=("id line_id booked_as amount booked_at booked_by reason",),
    ),
    DatedRows(
        name="clearings",
        label="decided clearings of suspense",
        model=Clearing,
        at="decided_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id booked_id kind other_id adjustment_id expected_line reason status proposed_by"
            " proposed_at decided_by decided_at refusal",
        ),
    ),
    DatedRows(
        name="closed_days",
        label="closed days",
        model=ClosedDay,
        at="closed_at",
        tenant=_OF_NO_TENANT,
        layouts=(
            "id rail_id statement_id follows_id day ledger bank in_transit in_transit_lines matches"
            " expected_lines closed_at closed_by",
        ),
    ),
    DatedRows(
        name="transit_notes",
        label="notes on lines in transit",
        model=TransitNote,
        at="written_at",
        tenant=_OF_NO_TENANT,
        layouts=("id line reason until written_by written_at",),
    ),
)
