from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.models import Switch
from tenants.services import switches


class Command(JsonCommand):
    help = "Release an operator switch."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--switch", required=True)
        parser.add_argument("--reason", required=True)

    def perform(self, **options: Any) -> dict[str, Any]:
        try:
            switch = switches.release(
                switch_id=options["switch"], reason=options["reason"], actor=SYSTEM, now=utc_now()
            )
        except Switch.DoesNotExist:
            raise CommandError(f"There is no switch {options['switch']}.") from None
        return {"switchId": switch.pk, "goesOn": str(switch)}
