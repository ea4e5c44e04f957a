from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from common.clock import utc_now
from common.commands import JsonCommand
from demo.tenant import live, people, setup


class Command(JsonCommand):
    help = "Make the demo tenants of a development copy. Their logins are public: DEBUG only."

    def perform(self, **_options: Any) -> dict[str, Any]:
        if not settings.DEBUG:
            raise CommandError(
                "The demo tenants have public passwords: they exist with DEBUG only."
            )
        made = setup.ensure(now=utc_now())
        told = {
            "tenantId": made.tenant_id,
            "email": setup.EMAIL,
            "password": people.PASSWORD,
            "apiKey": made.api_key,
            "adminEmail": people.ADMIN,
            "adminPassword": people.PASSWORD,
        }
        if made.receiver is not None:
            told |= {"receiverAddress": made.receiver.page}
        if made.live is not None:
            told |= {
                "liveTenantId": made.live.tenant_id,
                "liveEmail": live.EMAIL,
                "liveApiKey": made.live.api_key,
                "operatorEmail": people.OPERATOR,
                "releaserEmail": people.RELEASER,
                "payersBank": made.live.payers_bank,
            }
        return told
