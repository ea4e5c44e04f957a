from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from common.clock import utc_now
from common.commands import JsonCommand
from demo.tenant import bank, live, people, setup
from devstack.odfi import client


class Command(JsonCommand):
    help = (
        "Connect a development copy to its running stand-in bank, and make a live tenant and the"
        " staff who release its files. Their logins are public: DEBUG only."
    )

    def perform(self, **_options: Any) -> dict[str, Any]:
        if not (settings.DEBUG and settings.DEVELOPMENT_ROUTES):
            raise CommandError("Live tenants use a stand-in bank in development only.")
        try:
            made = setup.ensure_live(now=utc_now())
        except client.Unavailable as problem:
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
        }
