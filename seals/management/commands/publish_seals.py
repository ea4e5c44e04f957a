from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.database_clock import capped
from seals import publication


class Command(JsonCommand):
    help = "Publish now what is sealed, everywhere the settings say."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--restored",
            metavar="REASON",
            help="say that a backup was restored: what was published about later rounds is void",
        )

    @by(AUDIT)
    def perform(self, **options: Any) -> dict[str, Any]:
        ways = publication.ways()
        if not ways:
            raise CommandError("Set SEAL_FILE, SEAL_WEBHOOK_URL or SEAL_MAIL_TO: none is set")
        now = capped(utc_now())
        taken = 0
        if options["restored"] is not None:
            if not options["restored"].strip():
                raise CommandError("Say why it was restored")
            taken = publication.publish_restored(reason=options["restored"], now=now)
        taken += publication.publish(now=now)
        expected = len(ways) * (2 if options["restored"] else 1)
        if taken < expected:
            raise CommandError(f"{expected - taken} of {expected} were not taken: see the log")
        return {"taken": taken, "ways": [str(way) for way in ways]}
