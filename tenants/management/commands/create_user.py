from __future__ import annotations

from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_email

from common.clock import utc_now
from common.commands import JsonCommand
from tenants.actors import SYSTEM
from tenants.errors import LastOwner
from tenants.management.lookups import tenant_or_fail
from tenants.models import Role
from tenants.services import accounts


class Command(JsonCommand):
    help = "Give a person a role in a tenant; without a password they use the reset e-mail."

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--role", choices=Role.values, required=True)
        parser.add_argument("--password")

    def perform(self, **options: Any) -> dict[str, Any]:
        try:
            validate_email(options["email"])
            if options["password"]:
                validate_password(options["password"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        tenant_id = tenant_or_fail(options["tenant"]).pk
        try:
            membership = accounts.create_member(
                tenant_id=tenant_id,
                email=options["email"],
                role=Role(options["role"]),
                password=options["password"],
                actor=SYSTEM,
                now=utc_now(),
            )
        except LastOwner as refusal:
            raise CommandError(refusal.detail) from refusal
        return {"userId": membership.user_id, "role": str(membership.role)}
