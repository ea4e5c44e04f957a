from __future__ import annotations

from itertools import islice
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.audits import Scope
from common.clock import utc_now
from common.commands import JsonCommand
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.database_clock import capped
from seals import ahead, checks
from seals.verification import Proof, last_number
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = (
        "Prove the audit log by its seals, from the first round on; ends with status 1 and names"
        " the first row that was changed, removed or added."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this tenant's part of the log")

    @by(AUDIT)
    def perform(self, **options: Any) -> dict[str, Any]:
        tenant_ids = (tenant_or_fail(options["tenant"]).pk,) if options["tenant"] else None
        numbers = range(1, last_number() + 1)
        proof = Proof(
            numbers=numbers,
            now=capped(utc_now()),
            tenant_ids=tenant_ids,
            kinds=frozenset({"audit"}),
        )
        found = [*islice(proof.findings(), checks.FINDINGS_MAX)]
        self.findings = [*found, *ahead.check(Scope(tenant_ids=tenant_ids))]
        return {
            "rounds": len(numbers),
            "ok": not self.findings,
            "firstBroken": str(self.findings[0]) if self.findings else None,
            "findings": [str(finding) for finding in self.findings],
        }

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if self.findings:
            raise CommandError("\n".join(map(str, self.findings)))
