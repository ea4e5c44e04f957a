from __future__ import annotations

from django.apps import AppConfig


class FundingConfig(AppConfig):
    name = "funding"
    verbose_name = "Funding"

    def ready(self) -> None:
        from balance import invariants as audit
        from funding import invariants
        from funding.services import sandbox
        from networks.sandbox import due

        audit.register(invariants.MOVEMENTS.check)
        due.register(sandbox.PART)
