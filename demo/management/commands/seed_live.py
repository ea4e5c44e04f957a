from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from common.clock import utc_now
from common.commands import JsonCommand
from demo.tenant import bank, live, people, setup
from devstack.instant.client import Unavailable as OperatorUnavailable
from devstack.odfi.client import Unavailable as BankUnavailable


class Command(JsonCommand):
    help = (
        "Connect a development copy to the stand-ins of a bank and of an operator that run beside"
        " it, and make a live tenant and the staff who release its files. Their logins are public:"
        " DEBUG only."
    )

    def perform(self, **_options: Any) -> dict[str, Any]:
        if not (settings.DEBUG and settings.DEVELOPMENT_ROUTES):
            raise CommandError("Live tenants use a stand-in bank in development only.")
        try:
            made = setup.ensure_live(now=utc_now())
        except (BankUnavailable, OperatorUnavailable) as problem:
            raise CommandError(f"{problem}: start the copy first.") from problem
        return {
            "rail": bank.RAIL,
            "tenantId": made.tenant_id,
            "apiKey": made.api_key,
            "email": live.EMAIL,
            "operatorEmail": people.OPERATOR,
            "releaserEmail": people.RELEASER,
            "password": people.PASSWORD,
            "sources": made.sources,
            "payee": made.payee,
            "payersBank": made.payers_bank,
        }
