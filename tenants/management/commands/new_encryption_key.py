from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from common import key_ring
from common.commands import JsonCommand


class Command(JsonCommand):
    help = (
        "Make a new entry for ENCRYPTION_KEYS and print it; nothing is changed. Where KEY_SERVICE"
        " is set, it wraps the key. Add it at the end first, everywhere; see docs/operations.md."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", help="a name for it that was never used, such as k2")

    def perform(self, **options: Any) -> dict[str, Any]:
        name = options["id"]
        if not key_ring.NAME.fullmatch(name) or name in key_ring.RING.entries():
            raise CommandError("A key needs an id of its own: letters, digits, - and _.")
        service = key_ring.service()
        kind = key_ring.DERIVED if isinstance(service, key_ring.Local) else key_ring.WRAPPED
        try:
            body = service.wrap(secrets.token_bytes(key_ring.KEY_BYTES), name=name)
        except key_ring.KeyServiceAway as error:
            raise CommandError(f"{settings.KEY_SERVICE} did not answer: {error}") from error
        return {"entry": key_ring.text_of(key_ring.Entry(name, kind, body))}
