from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class TenantsConfig(AppConfig):
    name = "tenants"
    verbose_name = "Tenants and access"

    def ready(self) -> None:
        """Load what every app's `emails` module registers with the mail outbox."""
        autodiscover_modules("emails")
