"""Returns that our bank does not accept, as files between banks and the books tell of them."""

from __future__ import annotations

from typing import Any

from balance import services as ledger
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from networks.ach import replying
from networks.ach.inbound import deciding
from networks.ach.models import AchEntry, AchReply, InRecord
from networks.ach.network import AchNetwork
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.networks.ach.inbound.test_deciding import answer
from tests.reconciliation.statements import TUESDAY
from tests.reconciliation.transfers import batch_of
from transfers.dishonors import SOURCE_TYPE
from transfers.inbox import arrivals
from transfers.inbox.models import InboundEvent, ReturnDishonor

_WHO: dict[str, Any] = {"staff": "anna", "why": "As agreed", "now": builders.NOW}


def late_return(entry: AchEntry) -> InRecord:
    """What sends a final entry back after its time."""
    builders.take(builders.answer_file(builders.answer_batch(*builders.returned(entry, "R02"))))
    record: InRecord = InRecord.objects.get(entry=entry)
    return record


def dishonor(tenant, record: InRecord, *, day=TUESDAY) -> Any:
    """Have our bank send a return back, and the books say so. Gives our reply."""
    reply = deciding.dishonor(record_id=record.pk, code="R68", **_WHO)
    batch = batch_of(record.rail)
    trace = f"{builders.ODFI}{batch.pk:07d}"
    AchReply.objects.filter(pk=reply.pk).update(status="frozen", batch=batch, trace_number=trace)
    replying.acknowledged(batch.file, rejected={}, bad_batches={}, now=builders.NOW)
    row = ReturnDishonor.objects.create(
        tenant=tenant,
        subject_id=_transfer_of(record),
        direction="in",
        network=RAIL,
        amount=record.amount,
        dishonored=_told("return_dishonored"),
        counted_at=builders.NOW,
        created_at=builders.NOW,
        changed_at=builders.NOW,
    )
    _book(row, Step.IN_DISHONORED, day)
    reply.refresh_from_db()
    return reply


def contest(record: InRecord, *, day=TUESDAY) -> InRecord:
    """Have the other bank insist on its return, and the books say so."""
    file = builders.take(builders.answer_file(builders.answer_batch(*answer(record, "R73"))))
    row = ReturnDishonor.objects.get(subject_id=_transfer_of(record))
    row.contested = _told("return_contested")
    row.save(update_fields=["contested"])
    _book(row, Step.IN_CONTESTED, day)
    contested: InRecord = file.records.get()
    return contested


def _transfer_of(record: InRecord) -> str:
    entry = record.entry
    assert entry is not None
    return entry.instruction_id


def _told(kind: str) -> InboundEvent:
    """What the rail says of it."""
    arrivals.collect(network=AchNetwork(RAIL), id_prefix="ftx_", now=builders.NOW)
    event: InboundEvent = InboundEvent.objects.get(kind=kind)
    return event


def _book(row: ReturnDishonor, step: Step, day) -> None:
    line = Booking(step, row.amount, RAIL, SOURCE_TYPE, row.pk, row.tenant_id, day)
    ledger.book([line], now=builders.NOW)
