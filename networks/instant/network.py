"""An operator of an instant network, behind the protocol of every network.

Messages are handed over as instructions are taken; what becomes of them arrives by `receiving` and
is told as events, never inline.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from common.clock import utc_now
from common.engine.lookups import one_of
from networks import return_codes, schemes
from networks.base import (
    Accepted,
    Answer,
    BankRecord,
    Capabilities,
    Carrier,
    Correction,
    CorrectionOutcome,
    Custody,
    EventKind,
    Instruction,
    NetworkEvent,
    Withdrawal,
)
from networks.instant import limits, rails, sending, settling, taking
from networks.instant.iso.messages import FIRSTS
from networks.instant.models import Conversation, InstantEvent, Message
from networks.instant.models.events import EVENT_PREFIX
from networks.instant.states import ConversationKind, ConversationStatus, MessageStatus
from networks.instant.terms import InvalidTerms

CURRENCY = "USD"
# The transport's calls, and our own work around them.
_ANSWERS_WITHIN = sending.ALL_WITHIN + timedelta(seconds=25)
_NUMBER = re.compile("[0-9]{1,18}")


@dataclass(frozen=True)
class InstantNetwork:
    """The network of one rail, by the rail's name."""

    name: str

    @property
    def capabilities(self) -> Capabilities:
        """By the rail's terms; nothing while it has none. At most some seconds old."""
        return _known.of(self.name)

    def submit_many(
        self, instructions: Sequence[Instruction], *, now: datetime
    ) -> dict[str, Answer]:
        return taking.take_many(self.name, instructions, now=now)

    def find(self, instruction_id: str) -> Accepted | None:
        return taking.find(self.name, instruction_id)

    def withdraw(self, instruction_id: str, *, now: datetime) -> Withdrawal:
        """Take back what waits, and of which no message was written."""
        with transaction.atomic(durable=True):
            rows = self._of([instruction_id]).select_for_update(no_key=True, of=("self",))
            row = rows.first()
            if row is not None and row.status == ConversationStatus.WAITING:
                settling.withdrawn(row, now=now)
        is_back = row is not None and row.status == ConversationStatus.WITHDRAWN
        return Withdrawal.WITHDRAWN if is_back else Withdrawal.TOO_LATE

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        unsure = Message.objects.filter(
            conversation=OuterRef("pk"),
            name__in=FIRSTS,
            status__in=(MessageStatus.TO_SEND, MessageStatus.SILENT),
        )
        rows = self._of(instruction_ids).annotate(is_leaving=Exists(unsure))
        found = {}
        for row_id, status, is_leaving in rows.values_list(
            "instruction_id", "status", "is_leaving"
        ):
            if status == ConversationStatus.WAITING:
                found[row_id] = Custody.OURS
            elif status == ConversationStatus.SENT and is_leaving:
                found[row_id] = Custody.LEAVING
        return found

    def records(self, instruction_ids: Sequence[str]) -> list[BankRecord]:
        told = InstantEvent.objects.filter(conversation=OuterRef("pk"), acknowledged=True)
        rows: QuerySet[Any] = self._of(instruction_ids).annotate(
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
        waiting = self._told().filter(
            acknowledged=False,
            voided_at=None,
            due_at__lte=now,
            instruction_id__startswith=id_prefix,
        )
        # Returns of funds are our own: nobody waits for news of them.
        waiting = waiting.exclude(conversation__kind=ConversationKind.GIVE_BACK)
        return [self._event(row) for row in waiting.order_by("due_at", "id")[:limit]]

    def acknowledge(self, event_ids: Iterable[str]) -> None:
        mine = self._told().filter(one_of("pk", _numbers(event_ids)))
        mine.filter(acknowledged=False, voided_at=None).update(acknowledged=True)

    def correction(self, event_id: str) -> Correction | None:
        """Instant networks correct no accounts: they refuse what does not fit."""
        return None

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        """There is nothing to hear of."""

    def _of(self, instruction_ids: Sequence[str]) -> QuerySet[Conversation]:
        return Conversation.objects.filter(
            one_of("instruction_id", list(instruction_ids)), rail_id=self.name
        )

    def _told(self) -> QuerySet[InstantEvent]:
        return InstantEvent.objects.filter(rail_id=self.name)

    def _event(self, row: InstantEvent) -> NetworkEvent:
        return NetworkEvent(
            id=row.event_id,
            network=self.name,
            instruction_id=row.instruction_id,
            kind=EventKind(row.kind),
            amount=row.amount,
            currency=CURRENCY,
            code=row.code,
            reason=row.reason or (return_codes.title(row.code) if row.code else ""),
            reference=row.reference,
            occurred_at=row.occurred_at,
            settlement_date=row.settlement_date,
        )


class _Known:
    """What each rail can do, as this process knows it."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[float, Capabilities]] = {}

    def of(self, rail: str) -> Capabilities:
        found, limit = self._of.get(rail), settings.ROUTES_KNOWN_SECONDS
        is_new = found is not None and limit is not None and time.monotonic() - found[0] < limit
        if found is None or not is_new:
            found = self._of[rail] = (time.monotonic(), _capabilities(rail))
        return found[1]


_known = _Known()


def _capabilities(rail: str) -> Capabilities:
    try:
        in_force = rails.current(rail)
    except (rails.NoTerms, InvalidTerms):
        return Capabilities(methods=MappingProxyType({}))
    terms = replace(schemes.INSTANT, carrier=Carrier(in_force.profile.name))
    return Capabilities(
        methods=MappingProxyType(
            {
                method: replace(terms, amount_max=limits.amount_max(in_force, kind, now=utc_now()))
                for method, kind in taking.KINDS.items()
            }
        ),
        together=sending.TOGETHER,
        answers_within=_ANSWERS_WITHIN,
    )


def _numbers(event_ids: Iterable[str]) -> list[int]:
    """The numbers of events of ours; ids of another form are left out."""
    ends = [each.removeprefix(EVENT_PREFIX) for each in event_ids if each.startswith(EVENT_PREFIX)]
    return [int(end) for end in ends if _NUMBER.fullmatch(end)]
