from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from common.commands import JsonCommand
from common.database import roles


class Command(JsonCommand):
    help = (
        "Give the role of DATABASE_URL the rights the application needs, and no others"
        " (docs/operations.md). Connects as DATABASE_OWNER_URL; safe to run again."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--keep",
            action="store_true",
            help="take nothing away yet: processes of the last release still run",
        )

    def perform(self, **options: Any) -> dict[str, Any]:
        role = settings.DATABASE_APPLICATION_ROLE
        if role == connection.settings_dict["USER"]:
            return {"role": role, "note": "it owns the tables, no grant binds it"}
        try:
            granted = roles.grant(role, revoke=not options["keep"])
        except roles.UnknownRole:
            raise CommandError(
                f"There is no role {role}, which DATABASE_URL names."
                f" Make it as a superuser: CREATE ROLE {role} LOGIN PASSWORD '…'"
            ) from None
        return {"role": role, "tables": granted.tables, "functions": granted.functions}
