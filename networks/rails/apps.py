from __future__ import annotations

from django.apps import AppConfig


class RailsConfig(AppConfig):
    name = "networks.rails"
    label = "rails"
    verbose_name = "Rails and routes"

    def ready(self) -> None:
        """Have a changed row known at once in the process that changed it, rails sealed,
        and routes audited."""
        from django.db.models.signals import post_save

        from common import audits, sealed
        from networks.rails import invariants, sealed_rows
        from networks.rails.known import knowledge
        from networks.rails.models import Rail, Route

        for model in (Rail, Route):
            post_save.connect(knowledge.note_change, sender=model, dispatch_uid=f"known {model}")
        audits.register(invariants.check)
        sealed.register(*sealed_rows.KINDS)
