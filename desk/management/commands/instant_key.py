from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from common.errors import StaffRefusal
from desk import doers
from desk.management.options import add_who_and_why
from desk.rails.instant import acts
from networks.instant import key_slots
from networks.instant.certificates import PEM_LENGTH_MAX
from networks.instant.models import InstantKey

_ACTS: Mapping[str, Callable[..., InstantKey]] = MappingProxyType(
    {
        "make": acts.make_key,
        "switch": acts.switch_key,
        "retire": acts.retire_key,
        "replace": acts.replace_key,
    }
)


class Command(JsonCommand):
    help = (
        "Make a key by which an instant network knows us, and print its certificate and the request"
        " for the operator to sign; enter what the operator signed; or switch to the second key, or"
        " retire it (docs/operations.md)."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail")
        what = parser.add_mutually_exclusive_group()
        for name, words in (
            ("switch", "use the second key; the one in use becomes the second"),
            ("retire", "end the second key"),
            ("replace", "end all keys and use a new one at once: the operator must be ready"),
        ):
            what.add_argument(f"--{name}", dest="act", action="store_const", const=name, help=words)
        parser.set_defaults(act="make")
        parser.add_argument(
            "--certificate",
            type=Path,
            help="a file in PEM: what the operator signed, of a key here",
        )
        parser.add_argument(
            "--private-key",
            type=Path,
            help="with --certificate: a file in PEM with a key that was made elsewhere",
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = acts.found_rail(options["rail"])
        try:
            key = _act(options)(
                rail=rail.pk,
                reason=options["reason"],
                doer=doers.operator(options["operator"]),
                now=utc_now(),
            )
        except StaffRefusal as refusal:
            raise CommandError(refusal.detail) from refusal
        return {
            "rail": rail.pk,
            "fingerprint": key.fingerprint,
            "certificate": key.certificate,
            "signingRequest": key.signing_request,
            "isUsed": key == key_slots.slots(rail.pk).used,
        }


def _act(options: Mapping[str, Any]) -> Callable[..., InstantKey]:
    certificate, private_key = options["certificate"], options["private_key"]
    if certificate is None and private_key is None:
        return _ACTS[options["act"]]
    if certificate is None or options["act"] != "make":
        raise CommandError("Give --certificate alone, or with --private-key.")
    if private_key is None:
        return partial(acts.certify_key, certificate=_read(certificate))
    return partial(acts.take_key, certificate=_read(certificate), private_key=_read(private_key))


def _read(path: Path) -> str:
    try:
        with path.open(encoding="ascii") as file:
            return file.read(PEM_LENGTH_MAX + 1)
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read as PEM.") from error
