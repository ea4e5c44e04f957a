from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.audits import Finding, Scope
from common.commands import JsonCommand
from common.database.job_doors import by
from common.database.jobs import AUDIT
from seals import checks, figures, published
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = (
        "Prove the seals, from the first round on, and compare them with what was published;"
        " ends with status 1 and the findings when something is wrong."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this tenant's rows and seals")
        parser.add_argument("--newest", action="store_true", help="what the 15-minute check proves")
        parser.add_argument("--published", metavar="FILE", help="lines that were published")

    @by(AUDIT)
    def perform(self, **options: Any) -> dict[str, Any]:
        told = _told(options["published"])
        tenant_id = tenant_or_fail(options["tenant"]).pk if options["tenant"] else None
        scope = Scope(tenant_ids=(tenant_id,) if tenant_id else None, full=not options["newest"])
        each = dict.fromkeys(_findings(scope, told))  # the file may be our own
        self.findings = list(islice(each, checks.FINDINGS_MAX))
        state = figures.state()
        return {
            "round": state.number if state else 0,
            "mac": state.mac if state else "",
            "chains": state.chains if state else 0,
            "ok": not self.findings,
            "findings": [str(finding) for finding in self.findings],
        }

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if self.findings:
            raise CommandError("\n".join(map(str, self.findings)))


def _told(path: str | None) -> published.Published | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return published.read(file)
    except (OSError, UnicodeDecodeError, published.Unreadable) as error:
        raise CommandError(f"{path} cannot be compared: {error}") from error


def _findings(scope: Scope, told: published.Published | None) -> Iterator[Finding]:
    if told is not None:
        yield from published.findings(told)
    yield from checks.check(scope)
