from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from balance import invariants
from balance.invariants import Report
from common.clock import utc_now
from common.commands import JsonCommand
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = "Prove the ledger; ends with status 1 and the findings when something is wrong."
    report: Report

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this tenant")
        parser.add_argument("--full", action="store_true", help="from the first row on")

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant_id = tenant_or_fail(options["tenant"]).pk if options["tenant"] else None
        self.report = invariants.check(now=utc_now(), tenant_id=tenant_id, full=options["full"])
        return {
            "checkId": self.report.id,
            "ok": self.report.ok,
            "findings": [_camel(asdict(finding)) for finding in self.report.findings],
        }

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if not self.report.ok:
            raise CommandError("\n".join(map(str, self.report.findings)))


def _camel(finding: dict[str, str]) -> dict[str, str]:
    return {"tenantId" if name == "tenant_id" else name: text for name, text in finding.items()}
