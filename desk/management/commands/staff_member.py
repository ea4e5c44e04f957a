from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_email

from common.clock import utc_now
from common.commands import JsonCommand
from desk import roles
from desk.management.options import add_who_and_why
from tenants import selectors
from tenants.actors import SYSTEM
from tenants.services import staff


class Command(JsonCommand):
    help = "Give somebody who works for us roles, or end all of them (decision 0168)."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--role", action="append", choices=list(roles.ROLES), default=[])
        what.add_argument("--end", action="store_true", help="works here no more")
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        said = {"operator": options["operator"], "note": options["reason"], "now": utc_now()}
        if options["end"]:
            return _end(options["email"], said)
        try:
            validate_email(options["email"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        roles.ensure()
        person = staff.grant(email=options["email"], roles=options["role"], actor=SYSTEM, **said)
        return {"userId": person.pk, "roles": sorted(options["role"])}


def _end(email: str, said: dict[str, Any]) -> dict[str, Any]:
    person = selectors.person(email=email)
    if person is None:
        raise CommandError(f"Nobody has the address {email}.")
    ended = staff.end(user_id=person.pk, actor=SYSTEM, **said)
    return {"userId": person.pk, "ended": ended}
