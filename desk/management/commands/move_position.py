from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.positions import acts
from networks.instant.models import Position
from transfers.positions import Move


class Command(JsonCommand):
    help = (
        "Say that money of ours was moved to the network of an instant rail, or from it, by the"
        " word of one operator. The bank is told by people, not by this."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail", help="the instant rail")
        parser.add_argument("cents", type=int, help="to the network; below zero: from it")
        parser.add_argument(
            "--bank",
            default="",
            help="the rail at whose bank the money lay or lies now; without it, the money came"
            " from outside the books, or went there",
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        move = Move(rail=options["rail"], cents=options["cents"], bank=options["bank"])
        doer = operator(options["operator"])
        row = acts.put_in_force(move=move, reason=options["reason"], doer=doer, now=utc_now())
        position = Position.objects.get(pk=row.rail_id)
        return {
            "moveId": row.pk,
            "rail": row.rail_id,
            "balance": position.balance,
            "reserved": position.reserved,
        }
