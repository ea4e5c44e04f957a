"""Whether what lies at the banks covers what tenants own, by the newest proof (decision 0217)."""

from __future__ import annotations

from solvency import reports
from solvency.models import ProofReport


def newest() -> ProofReport | None:
    """The report of the newest day that is proven."""
    return ProofReport.objects.order_by("-day").first()


def missing(report: ProofReport) -> int:
    """By how many cents tenants own more than lies at the banks or is on its way there. Books and
    banks agree all the same: own funds are gone, or nothing explains an adjustment."""
    return max(0, -reports.figures_of(reports.parsed(report)).surplus)
