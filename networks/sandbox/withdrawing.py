"""How the sandbox bank gives an instruction back: as long as it has told nothing about it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from networks import return_codes
from networks.base import EventKind, Withdrawal
from networks.sandbox.arriving import schedule
from networks.sandbox.models import SandboxInstruction
from networks.sandbox.scripts import Step

_STEP = Step(EventKind.REJECTED, return_codes.WITHDRAWN)


def withdraw(instruction_id: str, *, network: str, now: datetime) -> Withdrawal:
    """Say nothing of what was to come, and that it was withdrawn instead: all or nothing, whoever
    dies. `durable` as in `arriving.take_over`."""
    with transaction.atomic(durable=True):
        rows = SandboxInstruction.objects.select_for_update().filter(
            network=network, external_id=instruction_id, accepted_at__isnull=False
        )
        row = rows.first()
        if row is None:
            return Withdrawal.TOO_LATE
        if row.events.filter(kind=_STEP.kind, code=_STEP.code).exists():
            return Withdrawal.WITHDRAWN
        if row.events.filter(Q(due_at__lte=now) | Q(acknowledged=True)).exists():
            return Withdrawal.TOO_LATE
        row.events.all().delete()
        schedule(row, _STEP, sequence=1, due_at=now).save(force_insert=True)
        return Withdrawal.WITHDRAWN
