"""`manage.py set_payment_cool_down`: how long a tenant's new recipients need a second person."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from payments.services import cool_down_settings
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail


class Command(JsonCommand):
    help = "For how many hours a second person approves payments to a tenant's new recipients."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--hours", type=int, help="left out: as the deployment says")

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant = tenant_or_fail(options["tenant"])
        cool_down_settings.set_hours(
            tenant_id=tenant.pk, hours=options["hours"], actor=SYSTEM, now=utc_now()
        )
        return {"tenantId": tenant.pk, "coolDownHours": options["hours"]}
