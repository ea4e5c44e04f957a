from __future__ import annotations

from django.apps import AppConfig


class InboxConfig(AppConfig):
    name = "transfers.inbox"
    label = "network_inbox"
    verbose_name = "Networks"

    def ready(self) -> None:
        """Tell the operator switches which networks there are, join the ledger's audit, and have
        messages and dishonored returns sealed."""
        from balance import causes
        from balance.operator import checks as books
        from common import audits, sealed
        from networks import registry
        from networks.instant.models import PositionMove
        from tenants import switches
        from transfers import dishonors, positions
        from transfers.inbox import invariants, sealed_rows
        from transfers.inbox.models import ReturnDishonor

        table = ReturnDishonor._meta.db_table
        causes.register(
            causes.Cause(
                source_type=dishonors.SOURCE_TYPE, table=table, code="return_dishonor_missing"
            )
        )
        books.register_source(dishonors.SOURCE_TYPE, table)
        books.register_source(positions.SOURCE_TYPE, PositionMove._meta.db_table, has_tenant=False)
        audits.register(invariants.check)
        audits.register_whole(positions.check)
        sealed.register(*sealed_rows.KINDS)
        switches.know_networks(lambda: [network.name for network in registry.active()])
