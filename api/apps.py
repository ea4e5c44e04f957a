from __future__ import annotations

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"
    verbose_name = "REST API"

    def ready(self) -> None:
        """Register our audit."""
        from api import invariants
        from common import audits

        audits.register_slices(invariants.RECORDS)
