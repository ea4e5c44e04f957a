from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.management.lookups import tenant_or_fail
from tenants.services import accounts


class Command(JsonCommand):
    help = "Suspend a tenant, or lift its suspension with --release."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--release", action="store_true")
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def perform(self, **options: Any) -> dict[str, Any]:
        tenant_id = tenant_or_fail(options["tenant"]).pk
        change = accounts.release if options["release"] else accounts.suspend
        change(tenant_id=tenant_id, actor=SYSTEM, now=utc_now(), reason=options["reason"])
        return {"tenantId": tenant_id, "status": "active" if options["release"] else "suspended"}
