from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants import selectors
from tenants.services import identities


class Command(JsonCommand):
    help = (
        "Forget as whom providers of single sign-on know somebody: the next sign-in connects them"
        " anew. Make sure that the account there is the same person's."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)

    def perform(self, **options: Any) -> dict[str, Any]:
        user = selectors.person(email=options["email"])
        if user is None:
            raise CommandError(f"Nobody signs in as {options['email']}.")
        return {"userId": user.pk, "unlinked": identities.unlink(user=user, now=utc_now())}
