from __future__ import annotations

import csv
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from api.downloads import safe_cell
from balance import exports
from common.database.job_doors import by
from common.database.jobs import AUDIT
from tenants.management.lookups import tenant_or_fail


class Command(BaseCommand):
    help = "Write the journal as CSV to standard output: two legs per balance transaction."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this tenant")

    @by(AUDIT)
    def handle(self, *_args: object, **options: Any) -> None:
        tenant_id = tenant_or_fail(options["tenant"]).pk if options["tenant"] else None
        writer = csv.writer(self.stdout)
        writer.writerow(exports.HEADER)
        for row in exports.rows(tenant_id):
            writer.writerow([safe_cell(cell) for cell in row])
