from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.rails import acts
from networks.ach.models import RailVersion
from networks.ach.states import VersionStatus
from networks.ach.terms import InvalidTerms, RailTerms
from networks.rails.models import RailKind

TERMS_BYTES_MAX = 1_000_000


class Command(JsonCommand):
    help = (
        "Make a rail, or change its terms, by the word of one operator: the desk says so and the"
        " audit log names who it was (docs/operations.md)."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail", help="its name: small letters, digits, _")
        parser.add_argument(
            "--kind", choices=RailKind.values, help="of a new rail: whether money moves"
        )
        parser.add_argument("--terms", type=Path, help="a JSON file with all terms")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="one term, as auto_release_below=500000 (cents) or connection.host=sftp.bank.com",
        )
        parser.add_argument("--offset-account", help="our own account, for balanced files")
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = options["rail"]
        current = RailVersion.objects.filter(rail_id=rail, status=VersionStatus.CURRENT).first()
        stored = _read(options["terms"]) if options["terms"] else current and dict(current.terms)
        if not stored:
            raise CommandError(f"{rail} has no terms yet: give all of them with --terms FILE.")
        for each in options["set"]:
            _put(stored, each)
        try:
            terms = RailTerms.parse(stored)
        except InvalidTerms as error:
            raise CommandError(f"These terms cannot be: {error}") from error
        version = acts.change_alone(
            rail=rail,
            kind=RailKind(options["kind"]) if options["kind"] else None,
            terms=terms,
            offset_account=options["offset_account"],
            reason=options["reason"],
            doer=operator(options["operator"]),
            now=utc_now(),
        )
        return {"rail": rail, "version": version.number, "changed": acts.changed(version)}


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            stored = json.loads(file.read(TERMS_BYTES_MAX))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is no JSON file that can be read: {error}") from error
    if not isinstance(stored, dict):
        raise CommandError(f"{path} holds no JSON object.")
    return stored


def _put(stored: dict[str, Any], assignment: str) -> None:
    """`connection.host=sftp.bank.com`; a value is JSON, or else a text, as one of digits is where a
    text stood before."""
    name, is_given, text = assignment.partition("=")
    if not is_given or not name:
        raise CommandError(f"{assignment}: write NAME=VALUE.")
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    *path, last = name.split(".")
    for part in path:
        inner = stored.get(part, {})
        if not isinstance(inner, dict):
            raise CommandError(f"{name}: {part} has no parts.")
        stored[part] = dict(inner)
        stored = stored[part]
    was_text = isinstance(stored.get(last), str)
    stored[last] = value if isinstance(value, str) or not was_text else text
