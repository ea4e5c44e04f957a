from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common import crypto, rotation
from common.commands import JsonCommand

_TOO_EARLY = (
    "No stored value is encrypted with key {key} yet. A process that was not given it could not"
    " read what is encrypted now. First add it at the end of ENCRYPTION_KEYS and restart every"
    " process. Then move it to the front, restart them again, and run this with --everywhere."
)


class Command(JsonCommand):
    help = (
        "Encrypt every stored secret with the first key of ENCRYPTION_KEYS. May be stopped and"
        " started again; when nothing is left the older keys can be dropped."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--everywhere",
            action="store_true",
            help="every process was restarted with this key and can read it",
        )
        parser.add_argument("--check", action="store_true", help="only count what is left to do")

    def perform(self, **options: Any) -> dict[str, Any]:
        columns = rotation.columns()
        if options["check"]:
            left = {place.name: place.stale().count() for place in columns}
            return {"keyId": crypto.current_key_id(), "left": left}
        if not (options["everywhere"] or any(place.has_current() for place in columns)):
            raise CommandError(_TOO_EARLY.format(key=crypto.current_key_id()))
        outcomes = {place.name: self._rotate(place) for place in columns}
        unreadable = [row for outcome in outcomes.values() for row in outcome.unreadable]
        if unreadable:
            raise CommandError(
                f"No key opens {len(unreadable)} values, of {', '.join(unreadable[:10])}:"
                " add the key that encrypted them."
            )
        rotated = {name: outcome.rotated for name, outcome in outcomes.items()}
        return {"keyId": crypto.current_key_id(), "rotated": rotated}

    def _rotate(self, place: rotation.Place) -> rotation.Outcome:
        def report(count: int) -> None:
            self.stderr.write(f"{place.name}: {count}")

        return rotation.rotate(place, progress=report)
