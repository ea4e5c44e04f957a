from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.services import enrolments


class Command(JsonCommand):
    help = "Print the link by which a member of staff sets up the first second factor."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument("--reason", default="command line", help="kept in the audit log")

    def perform(self, **options: Any) -> dict[str, Any]:
        user = selectors.person(email=options["email"])
        if user is None:
            raise CommandError(f"Nobody signs in as {options['email']}.")
        link = enrolments.link(user=user, reason=options["reason"], actor=SYSTEM, now=utc_now())
        return {"userId": user.pk, "link": link}
