from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules

from common import sealed


class TenantsConfig(AppConfig):
    name = "tenants"
    verbose_name = "Tenants and access"

    def ready(self) -> None:
        """Load every app's `emails` module, which registers with the mail outbox, and the receivers
        of django-allauth's signals. Register our audit, and the audit log as sealed."""
        from common import audits
        from tenants import invariants

        audits.register(invariants.check)
        autodiscover_modules("emails")
        import_module("common.database.checks")
        import_module("tenants.receivers")
        import_module("tenants.second_factor")
        sealed.register(*import_module("tenants.sealed_rows").KINDS)
