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
        """Let rails be played by the bank. A route leads sandbox tenants to the one of its name
        (migration 0006)."""
        from networks import registry
        from networks.sandbox.bank import SandboxBank

        if settings.SANDBOX_PACE not in set(Pace):
            raise ImproperlyConfigured(f"SANDBOX_PACE must be one of {', '.join(Pace)}")
        registry.register_driver("sandbox", SandboxBank)
