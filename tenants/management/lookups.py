"""Look-ups shared by the commands."""

from __future__ import annotations

from django.core.management.base import CommandError

from tenants.models import Tenant


def tenant_or_fail(tenant_id: str) -> Tenant:
    """The tenant with this id. Raises CommandError."""
    tenant = Tenant.objects.filter(pk=tenant_id).first()
    if tenant is None:
        raise CommandError(f"There is no tenant {tenant_id}.")
    return tenant
