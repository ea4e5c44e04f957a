"""Staff ask for a ledger check; a worker runs it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.engine.wakeups import enqueue_on_commit
from tenants.actors import Actor
from tenants.services import audit


@transaction.atomic
def request(*, full: bool, actor: Actor, now: datetime) -> None:
    """Wake a worker, and write to the audit log who asked. The run is listed once it starts."""
    audit.record(
        tenant_id=None,
        actor=actor,
        action="ledger_check.requested",
        details={"full": full},
        now=now,
    )
    enqueue_on_commit("balance.check_ledger", full=full)
