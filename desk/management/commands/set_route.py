from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from networks.rails.models import MODES
from transfers import route_changes


class Command(JsonCommand):
    help = "Open the route of a mode and a method to a rail, or close it (docs/operations.md)."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--mode", required=True, choices=MODES)
        parser.add_argument("--method", required=True, help="ach_debit, ach_credit, rtp_request …")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--rail", help="the rail that it leads to from now on")
        what.add_argument("--close", action="store_true")
        parser.add_argument(
            "--development", action="store_true", help="live tenants may use a stand-in"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        terms = {name: options[name] for name in ("mode", "method", "reason")}
        doer = operator(options["operator"])
        terms |= {"actor": doer.actor, "operator": doer.name, "now": utc_now()}
        if options["close"]:
            if options["development"]:
                raise CommandError("--development belongs to --rail")
            route = route_changes.close_route(**terms)
        else:
            route = route_changes.open_route(
                rail=options["rail"], development=options["development"], **terms
            )
        return {
            "routeId": route.pk,
            "mode": route.mode,
            "method": route.method,
            "rail": route.rail_id,
            "isOpen": route.is_open,
            "development": route.development,
        }
