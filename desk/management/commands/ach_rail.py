from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.management.terms import add_terms, given
from desk.rails import acts
from networks.ach.models import RailVersion
from networks.ach.states import VersionStatus
from networks.ach.terms import InvalidTerms, RailTerms
from networks.rails.models import RailKind


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
        add_terms(
            parser, example="auto_release_below=500000 (cents) or connection.host=sftp.bank.com"
        )
        parser.add_argument("--offset-account", help="our own account, for balanced files")
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = options["rail"]
        current = RailVersion.objects.filter(rail_id=rail, status=VersionStatus.CURRENT).first()
        stored = given(current.terms if current else None, options["terms"], options["set"])
        if stored is None:
            raise CommandError(f"{rail} has no terms yet: give all of them with --terms FILE.")
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
