from __future__ import annotations

import csv
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from api.downloads import safe_cell
from balance import journal
from common.clock import text_of
from tenants.management.lookups import tenant_or_fail

HEADER = (
    "transactionId",
    "tenantId",
    "sequence",
    "createdAt",
    "type",
    "account",
    "debit",
    "credit",
    "currency",
    "sourceType",
    "sourceId",
    "description",
)


class Command(BaseCommand):
    help = "Write the journal as CSV to standard output: two legs per balance transaction."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", help="only this tenant")

    def handle(self, *_args: object, **options: Any) -> None:
        tenant_id = tenant_or_fail(options["tenant"]).pk if options["tenant"] else None
        writer = csv.writer(self.stdout)
        writer.writerow(HEADER)
        for leg in journal.legs(tenant_id):
            writer.writerow(
                [
                    leg.transaction_id,
                    leg.tenant_id,
                    leg.sequence,
                    text_of(leg.created_at),
                    leg.type,
                    leg.account,
                    leg.debit,
                    leg.credit,
                    leg.currency,
                    leg.source_type,
                    leg.source_id,
                    safe_cell(leg.description),
                ]
            )
