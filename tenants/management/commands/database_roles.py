from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from common.commands import JsonCommand
from common.database import grants, jobs
from common.database.job_rights import needs_of


class Command(JsonCommand):
    help = (
        "Give the roles of DATABASE_URL, DATABASE_API_URL and of jobs the rights they need, and no"
        " others (docs/operations.md). Connects as DATABASE_OWNER_URL; safe to run again."
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
            granted = grants.grant(role, revoke=not options["keep"])
        except grants.UnknownRole:
            raise _unknown(role, "DATABASE_URL") from None
        done = {"role": role, "tables": granted.tables, "functions": granted.functions}
        done |= self._build_walls(role, revoke=not options["keep"])
        return done | {job: self._grant_job(job, **options) for job in settings.DATABASE_JOBS}

    def _grant_job(self, job: str, *, keep: bool, **_options: Any) -> dict[str, Any]:
        role = str(settings.DATABASE_JOBS[job]["USER"])
        try:
            granted = grants.grant(role, revoke=not keep, needs=needs_of(job))
        except grants.UnknownRole:
            raise _unknown(role, jobs.variable(job)) from None
        return {"role": role, "tables": granted.tables, "functions": granted.functions}

    def _build_walls(self, role: str, *, revoke: bool) -> dict[str, Any]:
        api = settings.DATABASE_API.get("USER")
        if not api:
            return {"walls": "none: DATABASE_API_URL is not set"}
        try:
            granted, changed = grants.build_walls(role, api, revoke=revoke)
        except grants.UnknownRole:
            raise _unknown(api, "DATABASE_API_URL") from None
        return {"api_role": api, "api_tables": granted.tables, "walls_changed": changed}


def _unknown(role: str, variable: str) -> CommandError:
    return CommandError(
        f"There is no role {role}, which {variable} names."
        f" Make it as a superuser: CREATE ROLE {role} LOGIN PASSWORD '…'"
    )
