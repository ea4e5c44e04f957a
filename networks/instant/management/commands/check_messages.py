from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.commands import JsonCommand
from networks.instant.iso import checking
from networks.instant.iso.checking import Checked
from networks.instant.iso.validation import Schemas, SchemasRefused


class Command(JsonCommand):
    help = (
        "Check the messages (.xml) of a folder by the schemas of a folder: those that an operator "
        "has of its network, or ours. Ends with status 1 if one is not valid."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="the folder that holds the messages")
        parser.add_argument(
            "--schemas", type=Path, help="the folder of schemas (.xsd); ours if it is not given"
        )

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if self._invalid:
            sys.exit(1)

    def perform(self, **options: Any) -> dict[str, Any]:
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder")
        try:
            schemas = Schemas(options["schemas"]) if options["schemas"] else None
            files = list(checking.check(folder, schemas))
        except SchemasRefused as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"cannot read {error.filename}: {error.strerror}") from error
        if not files:
            raise CommandError(f"{folder} holds no messages: they are files named .xml")
        self._invalid = sum(not each.is_valid for each in files)
        return {
            "ok": not self._invalid,
            "messages": len(files),
            "invalid": self._invalid,
            "files": [_shown(each) for each in files],
        }


def _shown(checked: Checked) -> dict[str, Any]:
    return {
        "file": checked.file,
        "message": checked.name,
        "valid": checked.is_valid,
        "faults": [
            {"code": each.fault, "element": each.element, "detail": checking.sentence(each)}
            for each in checked.faults
        ],
    }
