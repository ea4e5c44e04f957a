from __future__ import annotations

from django.apps import AppConfig


class DeskConfig(AppConfig):
    name = "desk"
    verbose_name = "Staff desk"

    def ready(self) -> None:
        """Join the ledger's audit, by which what people decided about banks is in their audit log,
        and have notes and assignments sealed."""
        from common import audits, sealed
        from desk import invariants, sealed_rows

        audits.register(invariants.check)
        sealed.register(*sealed_rows.KINDS)
