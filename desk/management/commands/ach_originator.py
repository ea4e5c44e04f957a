from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from common.money import parse_dollars
from desk.doers import operator
from desk.exceptions.acts import release_debits
from desk.management.options import add_who_and_why
from desk.rails import acts
from networks.ach.models import Originator
from networks.ach.originating import Company
from tenants.management.lookups import tenant_or_fail

_LIMITS = ("daily_debit_max", "daily_credit_max", "exposure_max")


class Command(JsonCommand):
    help = "Say in whose name a rail sends for a tenant, or for all others, and how much."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail")
        parser.add_argument("--tenant", help="empty: all tenants without a company of their own")
        parser.add_argument("--company-name", help="up to 16 upper-case letters and digits")
        parser.add_argument("--company-id", help="up to 10, as the bank gave it")
        for name in _LIMITS:
            parser.add_argument(f"--{name.replace('_', '-')}", help="dollars; empty: no limit")
        parser.add_argument("--end", action="store_true", help="take nothing more in this name")
        parser.add_argument(
            "--release-debits", action="store_true", help="let debits go on that returns stopped"
        )
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = acts.found_rail(options["rail"])
        tenant_id = tenant_or_fail(options["tenant"]).pk if options["tenant"] else ""
        rows = Originator.objects.filter(rail=rail, tenant_id=tenant_id, ended_at=None)
        known = rows.first()
        step = {
            "reason": options["reason"],
            "doer": operator(options["operator"]),
            "now": utc_now(),
        }
        if (options["end"] or options["release_debits"]) and known is None:
            raise CommandError("There is no such originator.")
        if known and options["release_debits"]:
            release_debits(originator=known, **step)
            return {"originatorId": known.pk, "debitsGoOn": True}
        if known and options["end"]:
            acts.end(originator=known, **step)
            return {"originatorId": known.pk, "ended": True}
        company = _company(options, known)
        row = acts.assign_alone(rail=rail.pk, tenant_id=tenant_id, company=company, **step)
        return {"originatorId": row.pk, "companyName": row.company_name}


def _company(options: dict[str, Any], known: Originator | None) -> Company:
    """What is given, and of the rest what is known."""
    company_name = options["company_name"] or (known.company_name if known else "")
    company_id = options["company_id"] or (known.company_id if known else "")
    if not company_name or not company_id:
        raise CommandError("A new originator needs --company-name and --company-id.")
    limits = {name: _limit(name, options[name], known) for name in _LIMITS}
    return Company(company_name=company_name, company_id=company_id, **limits)


def _limit(name: str, given: str | None, known: Originator | None) -> int | None:
    if given is None:
        return getattr(known, name, None)
    if not given:
        return None
    cents = parse_dollars(given)
    if cents is None:
        raise CommandError(f"--{name.replace('_', '-')}: an amount like 2,500.00.")
    return cents
