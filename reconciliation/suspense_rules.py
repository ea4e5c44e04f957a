"""The rules of the audit about lines that were booked for the bank, and about suspense.

There are few of them, so each check reads all.
"""

from __future__ import annotations

from collections.abc import Iterator

from balance.operator.accounts import OperatorAccount, Step
from balance.operator.totals import totals
from common import audits
from common.audits import Finding, Scope
from reconciliation import booking, clearing

# The step of a booked line, and of a clearing that posts something.
_STEP_OF_BOOKED = f"""
CASE WHEN booked.booked_as = 'fee'
    THEN CASE WHEN booked.amount > 0 THEN '{Step.FEE_REFUNDED}' ELSE '{Step.FEE_CHARGED}' END
    ELSE CASE WHEN booked.amount > 0 THEN '{Step.SUSPENSE_CREDITED}'
        ELSE '{Step.SUSPENSE_DEBITED}' END
END
"""
_STEP_OF_CLEARING = f"""
CASE clearing.kind
    WHEN 'fee' THEN '{Step.CLEARED_AS_FEE}'
    WHEN 'income' THEN '{Step.CLEARED_AS_INCOME}'
    WHEN 'ledger' THEN CASE WHEN booked.amount > 0
        THEN '{Step.CLEARED_CREDIT}' ELSE '{Step.CLEARED_DEBIT}' END
END
"""
# A line that was booked has the amount and the rail of the bank's, and one line of the operator.
_BOOKED = f"""
SELECT '', booked.id, 'was booked, and the line of the bank or of the books says something else'
FROM reconciliation_bookedline AS booked
JOIN reconciliation_statementline AS line ON line.id = booked.line_id
JOIN reconciliation_bankstatement AS statement ON statement.id = line.statement_id
JOIN reconciliation_settlementaccount AS account ON account.id = statement.account_id
LEFT JOIN balance_operator_line AS posted
    ON posted.source_id = booked.id AND posted.source_type = %(booked)s
LEFT JOIN reconciliation_expectedline AS expected ON expected.line = posted.id
LEFT JOIN reconciliation_matchedline AS matched ON matched.line_id = line.id
WHERE (line.amount, posted.step, posted.amount, posted.rail, posted.day, expected.match_id)
    IS DISTINCT FROM (booked.amount, {_STEP_OF_BOOKED}, abs(booked.amount), account.rail_id,
        statement.last_day, matched.match_id)
    OR expected.match_id IS NULL
"""  # noqa: S608  # our own text
# A clearing that was approved by another person posted what it says, and any other one nothing.
_CLEARED = f"""
SELECT '', clearing.id, 'is ' || clearing.status || ', and its line in the books is '
    || coalesce(posted.step || ' of ' || posted.amount, 'missing')
FROM reconciliation_clearing AS clearing
JOIN reconciliation_bookedline AS booked ON booked.id = clearing.booked_id
LEFT JOIN balance_operator_line AS posted
    ON posted.source_id = clearing.id AND posted.source_type = %(clearing)s
CROSS JOIN LATERAL (
    SELECT CASE WHEN clearing.status = 'approved' THEN {_STEP_OF_CLEARING} END AS step
) AS due
WHERE (posted.step, posted.amount) IS DISTINCT FROM
    (due.step, CASE WHEN due.step IS NOT NULL THEN abs(booked.amount) END)
UNION ALL
SELECT '', clearing.id, 'was cleared by what does not clear it'
FROM reconciliation_clearing AS clearing
JOIN reconciliation_bookedline AS booked ON booked.id = clearing.booked_id
LEFT JOIN reconciliation_bookedline AS other ON other.id = clearing.other_id
LEFT JOIN balance_adjustment AS adjustment ON adjustment.id = clearing.adjustment_id
LEFT JOIN reconciliation_expectedline AS transfer ON transfer.line = clearing.expected_line
LEFT JOIN reconciliation_match AS match ON match.id = transfer.match_id
WHERE clearing.status = 'approved' AND NOT coalesce(CASE clearing.kind
    WHEN 'fee' THEN booked.amount < 0
    WHEN 'income' THEN booked.amount > 0
    WHEN 'offset' THEN other.amount = -booked.amount AND other.booked_as = 'suspense'
    WHEN 'adjustment' THEN booked.amount =
        CASE adjustment.type WHEN 'credit' THEN adjustment.amount ELSE -adjustment.amount END
    ELSE transfer.amount = booked.amount AND match.rule = 'cleared'
END AND booked.booked_as = 'suspense', false)
UNION ALL
SELECT '', booked.id, 'was cleared more than once'
FROM reconciliation_clearing AS clearing
JOIN reconciliation_bookedline AS booked ON booked.id IN (clearing.booked_id, clearing.other_id)
WHERE clearing.status = 'approved' GROUP BY booked.id HAVING count(*) > 1
"""  # noqa: S608
# What is not cleared yet: lines of the bank, and adjustments that no line of the bank explains.
_OPEN = """
SELECT
    (SELECT coalesce(sum(booked.amount), 0) FROM reconciliation_bookedline AS booked
    WHERE booked.booked_as = 'suspense' AND NOT EXISTS (
        SELECT FROM reconciliation_clearing AS clearing
        WHERE clearing.status = 'approved'
            AND booked.id IN (clearing.booked_id, clearing.other_id)))
    - (SELECT coalesce(sum(CASE adjustment.type
            WHEN 'credit' THEN adjustment.amount ELSE -adjustment.amount END), 0)
        FROM balance_adjustment AS adjustment WHERE NOT EXISTS (
            SELECT FROM reconciliation_clearing AS clearing
            WHERE clearing.status = 'approved' AND clearing.adjustment_id = adjustment.id))
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check that every booked line and every clearing is in the books as it says, and that suspense
    holds what is not cleared, to the cent."""
    if scope.tenant_ids is not None:
        return
    values = {"booked": booking.SOURCE_TYPE, "clearing": clearing.SOURCE_TYPE}
    with audits.snapshot():  # lines and totals of one moment
        yield from list(_found(values))


def _found(values: dict[str, str]) -> Iterator[Finding]:
    yield from audits.found("suspense_booked", _BOOKED, values)
    yield from audits.found("suspense_cleared", _CLEARED, values)
    ((open_items,),) = audits.rows(_OPEN, {})
    held = sum(
        each.credit - each.debit for each in totals() if each.account == OperatorAccount.SUSPENSE
    )
    if held != open_items:
        yield Finding(
            code="suspense_open",
            tenant_id="",
            subject=OperatorAccount.SUSPENSE,
            message=f"holds {held} cents, and what is not cleared comes to {open_items}",
        )
