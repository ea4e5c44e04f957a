from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from balance import services
from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = "Credit or debit a tenant's balance."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--type", required=True, choices=("credit", "debit"))
        parser.add_argument("--amount", required=True, type=int, metavar="CENTS")
        parser.add_argument("--reason", required=True, help="the tenant sees it")

    def perform(self, **options: Any) -> dict[str, Any]:
        posting = services.adjust(
            tenant_id=tenant_or_fail(options["tenant"]).pk,
            type=options["type"],
            amount=options["amount"],
            reason=options["reason"],
            actor=SYSTEM,
            now=utc_now(),
        )
        return {"balanceTransactionId": posting.id}
