from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from payments.services import approval_settings
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = "Above which amount a second person approves a tenant's payments; counts at once."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True)
        parser.add_argument(
            "--above", type=int, metavar="CENTS", help="left out: nobody is asked any more"
        )

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant = tenant_or_fail(options["tenant"])
        approval_settings.set_threshold(
            tenant_id=tenant.pk, threshold=options["above"], actor=SYSTEM, now=utc_now()
        )
        return {"tenantId": tenant.pk, "approvalThreshold": options["above"]}
