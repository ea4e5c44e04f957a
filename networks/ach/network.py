"""A bank that takes ACH files, behind the protocol of every network.

It answers from rows alone, so it answers at once: files leave and come back by tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from common import crypto
from common.engine.lookups import one_of
from networks import return_codes
from networks.ach import taking, telling
from networks.ach.inbound import changes
from networks.ach.models import AchEntry, AchEvent
from networks.ach.models.events import EVENT_PREFIX
from networks.ach.models.reversals import REVERSAL_PREFIX
from networks.ach.states import EntryStatus
from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Correction,
    EventKind,
    Instruction,
    NetworkEvent,
)

CURRENCY = "USD"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True)
class AchNetwork:
    """The network of one rail, by the rail's name."""

    name: str

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Answer]:
        return taking.take_many(self.name, instructions, now=now)

    def find(self, instruction_id: str) -> Accepted | None:
        return taking.find(self.name, instruction_id)

    def is_withdrawn(self, instruction_id: str, *, now: datetime) -> bool:
        """Take back an entry that is in no file yet: whether nothing of it leaves any more."""
        mine = self._live([instruction_id])
        with transaction.atomic():
            row = mine.select_for_update(no_key=True, of=("self",)).first()
            if row is None:
                return False
            if row.status == EntryStatus.WAITING:
                telling.ended(
                    {row.pk: WITHDRAWN},
                    status=EntryStatus.WITHDRAWN,
                    kind=EventKind.REJECTED,
                    sources=[EntryStatus.WAITING],
                    now=now,
                )
                return True
        return row.status == EntryStatus.WITHDRAWN

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        told = AchEvent.objects.filter(
            instruction_id=OuterRef("instruction_id"), entry=OuterRef("pk"), acknowledged=True
        )
        rows: QuerySet[Any] = self._live(instruction_ids).annotate(
            told_final=Exists(told.filter(kind=EventKind.FINAL)),
            told_returned=Exists(told.filter(kind=EventKind.RETURNED)),
        )
        return [
            BankRecord(
                instruction_id=row.instruction_id,
                amount=row.amount,
                currency=CURRENCY,
                reference=row.reference,
                is_final=row.told_final,
                is_returned=row.told_returned,
            )
            for row in rows
        ]

    def poll(self, *, now: datetime, limit: int, id_prefix: str = "") -> list[NetworkEvent]:
        waiting = AchEvent.objects.filter(
            rail_id=self.name,
            acknowledged=False,
            voided_at=None,
            due_at__lte=now,
            instruction_id__startswith=id_prefix,
        ).exclude(instruction_id__startswith=REVERSAL_PREFIX)  # told to nobody: it is our own
        return [self._event(row) for row in waiting.order_by("due_at", "id")[:limit]]

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        mine = AchEvent.objects.filter(one_of("pk", _numbers(event_ids)), rail_id=self.name)
        mine.filter(acknowledged=False, voided_at=None).update(acknowledged=True)

    def correction(self, event_id: str) -> Correction | None:
        told = AchEvent.objects.filter(
            one_of("pk", _numbers([event_id])), rail_id=self.name, correction__isnull=False
        )
        event = told.select_related("correction").first()
        if event is None or event.correction is None:
            return None
        try:
            return changes.details(event.correction)
        except crypto.Undecryptable:
            return None

    def _live(self, instruction_ids: Sequence[str]) -> QuerySet[AchEntry]:
        return AchEntry.objects.filter(
            one_of("instruction_id", list(instruction_ids)),
            ~Q(status=EntryStatus.REQUEUED),
            rail_id=self.name,
        )

    def _event(self, row: AchEvent) -> NetworkEvent:
        return NetworkEvent(
            id=row.event_id,
            network=self.name,
            instruction_id=row.instruction_id,
            kind=EventKind(row.kind),
            amount=row.amount,
            currency=CURRENCY,
            code=row.code,
            reason=row.reason or _title(row.code),
            reference=row.reference,
            occurred_at=row.occurred_at,
            settlement_date=row.settlement_date,
            trace_number=row.trace_number,
        )


def _numbers(event_ids: Iterable[str]) -> list[int]:
    """The keys of events, of those ids that are any."""
    return [
        int(each.removeprefix(EVENT_PREFIX))
        for each in event_ids
        if each.startswith(EVENT_PREFIX) and each.removeprefix(EVENT_PREFIX).isdecimal()
    ]


def _title(code: str) -> str:
    return return_codes.lookup(code).title if code else ""
