from __future__ import annotations

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from networks.sandbox.pace import Pace


class SandboxBankConfig(AppConfig):
    name = "networks.sandbox"
    label = "sandbox_bank"
    verbose_name = "Sandbox bank"

    def ready(self) -> None:
        """Connect the bank for sandbox tenants, and for nobody else."""
        from networks import registry
        from networks.sandbox.bank import SandboxBank

        if settings.SANDBOX_PACE not in set(Pace):
            raise ImproperlyConfigured(f"SANDBOX_PACE must be one of {', '.join(Pace)}")
        registry.connect(SandboxBank(), modes=("sandbox",))
