from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.services import keys


class Command(JsonCommand):
    help = "Revoke an API key at once."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--key", required=True, help="the key's id, key_…")

    def perform(self, **options: Any) -> dict[str, Any]:
        if not keys.revoke(key_id=options["key"], actor=SYSTEM, now=utc_now()):
            raise CommandError(f"There is no usable key {options['key']}.")
        return {"keyId": options["key"], "revoked": True}
