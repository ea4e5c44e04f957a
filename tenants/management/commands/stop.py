from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail
from tenants.services import switches
from tenants.switches import SwitchKind


class Command(JsonCommand):
    help = "Engage an operator switch, for everything unless a network or a tenant is named."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=SwitchKind.values)
        parser.add_argument("--network", default="")
        parser.add_argument("--tenant")
        parser.add_argument("--reason", required=True)

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant_id = options["tenant"] and tenant_or_fail(options["tenant"]).pk
        switch = switches.engage(
            kind=SwitchKind(options["kind"]),
            network=options["network"],
            tenant_id=tenant_id,
            reason=options["reason"],
            actor=SYSTEM,
            now=utc_now(),
        )
        return {"switchId": switch.pk, "stopped": str(switch)}
