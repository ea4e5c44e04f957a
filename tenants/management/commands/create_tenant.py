from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.models import Mode
from tenants.services import accounts


class Command(JsonCommand):
    help = "Create a tenant."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--mode", choices=Mode.values, default=Mode.SANDBOX)

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant = accounts.create_tenant(
            name=options["name"], mode=Mode(options["mode"]), actor=SYSTEM, now=utc_now()
        )
        return {"tenantId": tenant.pk}
