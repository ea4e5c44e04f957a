from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from common.errors import StaffRefusal
from desk import doers
from desk.management.options import add_who_and_why
from desk.rails import acts
from networks.ach import key_slots
from networks.ach.models import AchKey

_ACTS: Mapping[str, Callable[..., AchKey]] = MappingProxyType(
    {
        "make": acts.make_key,
        "switch": acts.switch_key,
        "retire": acts.retire_key,
        "replace": acts.replace_key,
    }
)


class Command(JsonCommand):
    help = (
        "Make a key by which we sign in at a bank, and print its public part for the bank; or"
        " switch to the second key, or retire it (docs/operations.md, A rotated key)."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail")
        what = parser.add_mutually_exclusive_group()
        for name, words in (
            ("switch", "use the second key; the one in use becomes the second"),
            ("retire", "end the second key"),
            ("replace", "end all keys and use a new one at once: the bank must be ready"),
        ):
            what.add_argument(f"--{name}", dest="act", action="store_const", const=name, help=words)
        parser.set_defaults(act="make")
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = acts.found_rail(options["rail"])
        try:
            key = _ACTS[options["act"]](
                rail=rail.pk,
                reason=options["reason"],
                doer=doers.operator(options["operator"]),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            raise CommandError(refusal.detail) from refusal
        return {
            "rail": rail.pk,
            "publicKey": key.public_key,
            "fingerprint": key.fingerprint,
            "isUsed": key == key_slots.slots(rail.pk).used,
        }
