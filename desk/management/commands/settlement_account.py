from __future__ import annotations

import sys
from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.statements import acts
from reconciliation.accounts import NUMBER_LENGTH_MAX, Opening
from reconciliation.models import StatementFormat


class Command(JsonCommand):
    help = (
        "Put our account at the bank behind a rail in force, by the word of one operator. Its"
        " number is read from standard input, so that no history of commands keeps it."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail", help="the rail whose money lies there")
        parser.add_argument("--format", choices=StatementFormat.values, required=True)
        parser.add_argument(
            "--opened-on",
            type=date.fromisoformat,
            required=True,
            help="the first day whose statement is taken, as 2026-11-30",
        )
        parser.add_argument(
            "--opening", type=int, required=True, help="cents that lay there as that day began"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        number = sys.stdin.readline(NUMBER_LENGTH_MAX + 2).strip()
        if not number:
            raise CommandError("Give the account's number on standard input.")
        account = acts.put_in_force(
            opening=Opening(
                rail=options["rail"],
                number=number,
                format=StatementFormat(options["format"]),
                opened_on=options["opened_on"],
                cents=options["opening"],
            ),
            reason=options["reason"],
            doer=operator(options["operator"]),
            now=utc_now(),
        )
        return {"accountId": account.pk, "rail": account.rail_id, "last4": account.last4}
