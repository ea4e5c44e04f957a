from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from common.clock import utc_now
from common.commands import JsonCommand
from tenants import scopes
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail
from tenants.services import keys


class Command(JsonCommand):
    help = "Issue an API key. It is printed once and cannot be shown again."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--name", default="command line")
        parser.add_argument("--scopes", help="comma-separated; all of them when left out")
        parser.add_argument(
            "--no-loosening",
            action="store_true",
            help="a live key that may not loosen auto-funding",
        )
        parser.add_argument("--expires-at", help="ISO 8601 with a time zone")

    def perform(self, **options: Any) -> dict[str, Any]:
        issued = keys.issue(
            tenant=tenant_or_fail(options["tenant"]),
            name=options["name"],
            actor=SYSTEM,
            now=utc_now(),
            scopes=_chosen(options["scopes"]),
            expires_at=_instant(options["expires_at"]),
            may_loosen_auto_funding=not options["no_loosening"],
        )
        return {"keyId": issued.key.pk, "apiKey": issued.text}


def _chosen(text: str | None) -> Sequence[str]:
    if text is None:
        return scopes.ALL
    return [part.strip() for part in text.split(",") if part.strip()]


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        instant = parse_datetime(text)
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise CommandError("--expires-at takes ISO 8601 with a zone, e.g. 2027-01-31T00:00:00Z")
    return instant
