"""The base of our management commands. With `--json` they print exactly one object to standard
output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.errors import DomainError


class JsonCommand(BaseCommand):
    """Subclasses implement `perform`, which does the work and returns what it did, with camelCase
    keys."""

    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")
        self.add_own_arguments(parser)

    def add_own_arguments(self, parser: CommandParser) -> None:
        """Declare the command's own options."""

    def perform(self, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def handle(self, *_args: object, **options: Any) -> None:
        try:
            result = self.perform(**options)
        except DomainError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        if options["json"]:
            self.stdout.write(json.dumps(result))
            return
        for name, value in _flat(result):
            self.stdout.write(f"{name}: {value}")


def _flat(result: dict[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in result.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield path + name, value
