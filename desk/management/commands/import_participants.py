from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.positions import lists
from networks.instant.iso.profiles import PROFILES
from networks.instant.participants import BYTES_MAX


class Command(JsonCommand):
    help = (
        "Take in an instant network's list of participants, a CSV file (docs/operations.md): whole,"
        " in place of the one before, or not at all."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("profile", choices=sorted(PROFILES), help="the network")
        parser.add_argument("file", type=Path, help="the list, with a heading")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument(
            "--force", action="store_true", help="however many banks it lacks of the one before"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        profile, content = options["profile"], _content(options["file"])
        if options["dry_run"]:
            banks = lists.try_out(profile, content, is_forced=options["force"])
            return {"profile": profile, "banks": banks, "imported": False}
        made = lists.take(
            profile,
            content,
            reason=options["reason"],
            is_forced=options["force"],
            doer=operator(options["operator"]),
            now=utc_now(),
        )
        return {"profile": profile, "banks": made.banks, "imported": True, "listId": made.pk}


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(BYTES_MAX + 1)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error
