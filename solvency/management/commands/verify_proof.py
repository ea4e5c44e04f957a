from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.audits import Finding
from common.commands import JsonCommand
from common.database.job_doors import by
from common.database.jobs import AUDIT
from solvency import inclusion, invariants, reports


class Command(JsonCommand):
    help = "Prove one proof of funds from its leaves on; ends with status 1 where it does not hold."
    findings: list[Finding]

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("day", help="as 2026-11-27")

    @by(AUDIT)
    def perform(self, **options: Any) -> dict[str, Any]:
        report = reports.of_day(inclusion.day_of(options["day"]))
        self.findings = list(invariants.of_report(report))
        figures = reports.figures_of(reports.parsed(report))
        return {
            "day": report.day.isoformat(),
            "ok": not self.findings,
            "digest": report.digest,
            "keyId": report.key_id,
            "tenants": figures.tenants.total,
            "atTheBank": figures.at_the_bank,
            "difference": figures.difference,
            "surplus": figures.surplus,
            "findings": [asdict(finding) for finding in self.findings],
        }

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if self.findings:
            raise CommandError("\n".join(map(str, self.findings)))
