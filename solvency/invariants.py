"""What must hold for proofs of funds: this app's part of the audit.

The usual check proves the reports that are new, the full one all of them, one at a time: a report
of 100,000 tenants takes some seconds. Their rows never change, so no snapshot is held meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from common import audits, crypto
from common.audits import Finding, Scope
from common.clock import text_of
from solvency import inclusion, reports, salts, signing, tree
from solvency.models import ProofReport, ProofTree
from solvency.tree import Amounts

_LEAVES = """
SELECT index, tenant_id, available, settled, locked, overdrawn FROM solvency_proofleaf
WHERE report_id = %(report_id)s ORDER BY index
"""
# What a leaf says of the ledger is what the ledger's line says.
_OF_LEDGER = """
SELECT leaf.tenant_id, report.day::text, 'the leaf does not say what the ledger said then'
FROM solvency_proofleaf AS leaf JOIN solvency_proofreport AS report ON report.id = leaf.report_id
LEFT JOIN balance_transaction AS line
    ON line.tenant_id = leaf.tenant_id AND line.sequence = leaf.sequence
WHERE leaf.report_id = %(report_id)s
    AND (leaf.available - leaf.overdrawn, leaf.locked)
        IS DISTINCT FROM (coalesce(line.available_after, 0), coalesce(line.locked_after, 0))
LIMIT 100
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Find reports that do not hold: their signature, their place in the chain, their sums, and the
    root and the leaves behind them."""
    if scope.tenant_ids is not None:
        return
    rows = ProofReport.objects.order_by("day")
    for report in rows if scope.full else rows.filter(taken_at__gt=scope.since):
        yield from of_report(report)


def of_report(report: ProofReport) -> Iterator[Finding]:
    """Find what of one report does not hold."""
    if not signing.is_genuine(report.content, key_id=report.key_id, signature=report.signature):
        yield _finding("proof_signature", report, "is not signed with a key that is published")
        return
    said = reports.parsed(report)
    if problem := _misplaced(report, said):
        yield _finding("proof_chain", report, problem)
    if problem := _unequal(said):
        yield _finding("proof_difference", report, problem)
    if problem := _untrue(report, said):
        yield _finding("proof_tree", report, problem)
    yield from audits.found("proof_leaf", _OF_LEDGER, {"report_id": report.pk})


def _finding(code: str, report: ProofReport, message: str) -> Finding:
    return Finding(code=code, tenant_id="", subject=report.day.isoformat(), message=message)


def _misplaced(report: ProofReport, said: dict[str, Any]) -> str:
    """What is wrong with the report's place among the others."""
    last = ProofReport.objects.filter(day__lt=report.day).order_by("-day").first()
    if report.digest != reports.digest_of(report.content):
        return "has another digest than its text"
    if (said["day"], said["takenAt"]) != (report.day.isoformat(), text_of(report.taken_at)):
        return f"is the report of {said['day']}, taken at {said['takenAt']}"
    before = (last.pk, last.digest) if last else (None, "")
    if (report.follows_id, said["previous"]) != before:
        return "does not follow the report before it"
    return ""


def _unequal(said: dict[str, Any]) -> str:
    """What is wrong with the figures of a report by themselves."""
    figures = reports.figures_of(said)
    if figures.difference or said["difference"] or figures.at_the_bank != figures.in_the_books:
        return f"has a difference of {figures.difference} cents"
    return ""


def _untrue(report: ProofReport, said: dict[str, Any]) -> str:
    """What is wrong with the leaves, the root of them, and their sums."""
    try:
        secret = inclusion.secret_of(report.pk)
    except ProofTree.DoesNotExist:
        return "has no tree"
    except crypto.Undecryptable:
        return "has a secret that does not open"
    rows = audits.rows(_LEAVES, {"report_id": report.pk})
    if [index for index, *_ in rows] != list(range(len(rows))):
        return "has leaves in other places"
    try:
        grown = tree.grow(
            salts.leaf_of(tenant_id, Amounts(*amounts), day=report.day, secret=secret)
            for _, tenant_id, *amounts, _ in rows
        )
    except ValueError as problem:
        return f"has leaves that make no tree: {problem}"
    overdrawn = [overdrawn for *_, overdrawn in rows if overdrawn]
    figures = reports.figures_of(said)
    root = (grown.root.digest.hex(), grown.count, grown.root.amounts)
    if root != (said["tenants"]["root"], said["tenants"]["leaves"], figures.tenants):
        return "has another root than its leaves"
    owed = (figures.receivables.count, figures.receivables.amount)
    if owed != (len(overdrawn), sum(overdrawn)):
        return "has other receivables than its leaves"
    if bytes(ProofTree.objects.get(pk=report.pk).nodes) != grown.packed:
        return "has other nodes than its leaves"
    return ""
