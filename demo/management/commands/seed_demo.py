from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from common.clock import utc_now
from common.commands import JsonCommand
from demo.tenant import setup


class Command(JsonCommand):
    help = "Make the demo tenant of a development copy. Its logins are public: DEBUG only."

    def perform(self, **_options: Any) -> dict[str, Any]:
        if not settings.DEBUG:
            raise CommandError("The demo tenant has public passwords; it exists with DEBUG only.")
        made = setup.ensure(now=utc_now())
        return {
            "tenantId": made.tenant_id,
            "email": setup.EMAIL,
            "password": setup.PASSWORD,
            "apiKey": made.api_key,
            "adminEmail": setup.STAFF_EMAIL,
            "adminPassword": setup.PASSWORD,
        }
