from __future__ import annotations

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        """Load every app's refusals: the error reference lists them all."""
        autodiscover_modules("errors")
