from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk import doers
from desk.management.options import add_who_and_why
from desk.rails import acts
from networks.ach.models import AchKey


class Command(JsonCommand):
    help = "Make the key by which we sign in at a bank, and print its public part for the bank."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail")
        parser.add_argument(
            "--replace", action="store_true", help="retire the key in use: the bank must be ready"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = acts.found_rail(options["rail"])
        used = AchKey.objects.filter(rail=rail, retired_at=None).exists()
        if used and not options["replace"]:
            raise CommandError(
                "There is a key in use. With --replace it is retired at once: nothing is sent or"
                " read until the bank has entered the new one."
            )
        key = acts.make_key(
            rail=rail.pk,
            reason=options["reason"],
            doer=doers.operator(options["operator"]),
            now=utc_now(),
        )
        return {"rail": rail.pk, "publicKey": key.public_key, "fingerprint": key.fingerprint}
