"""The text of a report: what is signed, byte for byte.

Canonical JSON: keys in order, no spaces, ASCII, amounts as whole cents. Whoever checks a signature
checks this text and need not write JSON the same way.
"""

from __future__ import annotations

import hashlib
import json
from datetime import date, datetime
from typing import Any

from balance.operator.accounts import OperatorAccount
from balance.operator.totals import OperatorTotal
from common.clock import text_of
from common.errors import NotFound
from solvency.figures import ClosedFigures, Figures, Receivables
from solvency.models import ProofReport
from solvency.tree import Amounts, Node

FORMAT = "ballast proof of funds 1"


def content_of(
    day: date, figures: Figures, *, root: Node, leaves: int, previous: str, taken_at: datetime
) -> str:
    """The text of a report. `previous` is the digest of the one before, empty for the first."""
    tenants = figures.tenants
    return json.dumps(
        {
            "format": FORMAT,
            "day": day.isoformat(),
            "takenAt": text_of(taken_at),
            "previous": previous,
            "tenants": {
                "available": tenants.available,
                "settled": tenants.settled,
                "locked": tenants.locked,
                "leaves": leaves,
                "root": root.digest.hex(),
            },
            "receivables": {
                "count": figures.receivables.count,
                "amount": figures.receivables.amount,
            },
            "operator": [
                {
                    "account": str(total.account),
                    "rail": total.rail,
                    "debit": total.debit,
                    "credit": total.credit,
                }
                for total in figures.operator
            ],
            "bank": [_account(account) for account in figures.accounts],
            "difference": figures.difference,
        },
        sort_keys=True,
        separators=(",", ":"),
    )


def _account(account: ClosedFigures) -> dict[str, Any]:
    return {
        "rail": account.rail,
        "last4": account.last4,
        "closing": account.bank_closing,
        "notOnStatement": account.not_on_statement,
        "ownFunds": account.own_funds,
    }


def of_day(day: date) -> ProofReport:
    """The report of a day, with the one before. Raises NotFound."""
    report = ProofReport.objects.select_related("follows").filter(day=day).first()
    if report is None:
        raise NotFound("There is no proof of funds for this day.")
    return report


def digest_of(content: str) -> str:
    """SHA-256 of the text, in hex: what the next report holds."""
    return hashlib.sha256(content.encode()).hexdigest()


def parsed(report: ProofReport) -> dict[str, Any]:
    """What the report says."""
    found: dict[str, Any] = json.loads(report.content)
    return found


def figures_of(said: dict[str, Any]) -> Figures:
    """The figures that a report says."""
    tenants, receivables = said["tenants"], said["receivables"]
    return Figures(
        accounts=[
            ClosedFigures(
                rail=each["rail"],
                last4=each["last4"],
                bank_closing=each["closing"],
                not_on_statement=each["notOnStatement"],
                own_funds=each["ownFunds"],
            )
            for each in said["bank"]
        ],
        tenants=Amounts(tenants["available"], tenants["settled"], tenants["locked"]),
        receivables=Receivables(count=receivables["count"], amount=receivables["amount"]),
        operator=[
            OperatorTotal(
                account=OperatorAccount(each["account"]),
                rail=each["rail"],
                debit=each["debit"],
                credit=each["credit"],
            )
            for each in said["operator"]
        ],
    )


def signed(report: ProofReport) -> dict[str, Any]:
    """The report as people take it away: the text, and its signature."""
    return {"report": report.content, "keyId": report.key_id, "signature": report.signature}
