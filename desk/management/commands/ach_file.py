from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.files import acts
from desk.management.options import add_who_and_why


class Command(JsonCommand):
    help = "Say whether the bank has a file whose sending is in doubt, where nobody else can."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="its id, ofl_…")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--at-bank", action="store_true", help="it counts as sent")
        where.add_argument(
            "--not-at-bank", action="store_true", help="it goes again; what they have moves twice"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        file = acts.found_file(options["file"])
        act = acts.at_bank if options["at_bank"] else acts.not_at_bank
        act(
            file=file,
            reason=options["reason"],
            doer=operator(options["operator"]),
            now=utc_now(),
        )
        return {"fileId": file.pk, "atBank": bool(options["at_bank"])}
