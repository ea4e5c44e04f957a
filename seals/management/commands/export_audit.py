from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.clock import utc_now
from common.database.job_doors import by
from common.database.jobs import AUDIT
from common.database_clock import capped
from common.ids import is_id
from seals import leaving


class Command(BaseCommand):
    help = (
        "Write the audit log to standard output, a JSON object per line. To go on later, give the"
        " id of the last line that was written. Lines younger than about five minutes wait."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--after", metavar="ID", default="", help="the last line you have")

    @by(AUDIT)
    def handle(self, *_args: object, **options: Any) -> None:
        after = options["after"]
        if after and not is_id(after, "aud"):
            raise CommandError(f"{after!r} is no id of the audit log: they begin with aud_")
        try:
            for page in leaving.pages(after=after, now=capped(utc_now())):
                self.stdout.write("\n".join(leaving.lines(page)))
        except leaving.Waiting as reason:
            raise CommandError(str(reason)) from reason
