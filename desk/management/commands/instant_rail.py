from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.management.terms import add_terms, given
from desk.rails.instant import acts, lines
from networks.instant.changing import ACCOUNT_LENGTH_MAX
from networks.instant.models import InstantVersion
from networks.instant.models.rails import ProfileName
from networks.instant.states import VersionStatus
from networks.instant.terms import InvalidTerms, RailTerms
from networks.rails.models import RailKind


class Command(JsonCommand):
    help = (
        "Make a rail to an instant network, or change its terms, by the word of one operator: the"
        " desk says so and the audit log names who it was (docs/operations.md). Without terms a new"
        " rail waits for those that two people agree to at the desk."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail", help="its name: small letters, digits, _")
        parser.add_argument("--profile", choices=ProfileName.values, help="of a new rail")
        parser.add_argument(
            "--kind", choices=RailKind.values, help="of a new rail: whether money moves"
        )
        add_terms(
            parser,
            example="payment_max=500000 (cents) or connection.base_url=https://bank.example/rtp",
        )
        parser.add_argument(
            "--account",
            action="store_true",
            help="read the number of our own account there from standard input, so that no history"
            " of commands keeps it; needed for the first terms",
        )
        add_who_and_why(parser)

    @transaction.atomic
    def perform(self, **options: Any) -> dict[str, Any]:
        doer, now = operator(options["operator"]), utc_now()
        rail = acts.open_rail(
            name=options["rail"],
            profile=ProfileName(options["profile"]) if options["profile"] else None,
            kind=RailKind(options["kind"]) if options["kind"] else None,
            doer=doer,
            now=now,
        )
        current = InstantVersion.objects.filter(rail=rail, status=VersionStatus.CURRENT).first()
        stored = given(current.terms if current else None, options["terms"], options["set"])
        if stored is None:
            return {"rail": rail.pk, "version": None}
        try:
            terms = RailTerms.parse(stored)
        except InvalidTerms as error:
            raise CommandError(f"These terms cannot be: {error}") from error
        version = acts.change_alone(
            rail=rail,
            terms=terms,
            account=_number() if options["account"] else "",
            reason=options["reason"],
            doer=doer,
            now=now,
        )
        changed = [line.in_words for line in lines.changes_of(version)]
        return {"rail": rail.pk, "version": version.number, "changed": changed}


def _number() -> str:
    number = sys.stdin.readline(ACCOUNT_LENGTH_MAX + 2).strip()
    if not number:
        raise CommandError("Give the account's number on standard input.")
    return number
