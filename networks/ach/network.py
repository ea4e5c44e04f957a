"""A bank that takes ACH files, behind the protocol of every network.

It answers from rows alone, so it answers at once: files leave and come back by tasks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from datetime import time as clock_time
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from common import crypto
from common.engine.lookups import one_of
from networks import return_codes, schemes
from networks.ach import models, rails, taking, telling
from networks.ach.inbound import changes, hearing
from networks.ach.models import AchEntry, AchEvent
from networks.ach.models.corrections import OUTCOME_NOTE_MAX
from networks.ach.models.events import EVENT_PREFIX
from networks.ach.models.reversals import REVERSAL_PREFIX
from networks.ach.prenotes import PRENOTE_PREFIX
from networks.ach.states import EntryStatus
from networks.ach.terms import InvalidTerms
from networks.base import (
    ANSWERS_WITHIN_MAX,
    EVENT_CODE_LENGTH,
    SUBMIT_MANY_MAX,
    Accepted,
    Answer,
    BankRecord,
    Capabilities,
    Correction,
    CorrectionOutcome,
    Custody,
    Cutoff,
    EventKind,
    Instruction,
    Method,
    NetworkEvent,
    Withdrawal,
)

CURRENCY = "USD"
_NUMBER = re.compile("[0-9]{1,18}")
# A file that is sent and not answered may still be refused, and then its entries go again.
_CUSTODY: MappingProxyType[str, Custody] = MappingProxyType(
    {
        EntryStatus.WAITING: Custody.OURS,
        EntryStatus.FROZEN: Custody.LEAVING,
        EntryStatus.SENT: Custody.LEAVING,
    }
)


@dataclass(frozen=True)
class AchNetwork:
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
        """Take back an entry that is in no file yet."""
        with transaction.atomic(durable=True):
            mine = self._live([instruction_id])
            row = mine.select_for_update(no_key=True, of=("self",)).first()
            if row is not None and row.status == EntryStatus.WAITING:
                telling.ended(
                    {row.pk: return_codes.WITHDRAWN},
                    status=EntryStatus.WITHDRAWN,
                    kind=EventKind.REJECTED,
                    sources=[EntryStatus.WAITING],
                    now=now,
                )
                return Withdrawal.WITHDRAWN
        is_back = row is not None and row.status == EntryStatus.WITHDRAWN
        return Withdrawal.WITHDRAWN if is_back else Withdrawal.TOO_LATE

    def custody(self, instruction_ids: Sequence[str]) -> dict[str, Custody]:
        rows = self._live(instruction_ids).filter(status__in=_CUSTODY)
        return {
            row_id: _CUSTODY[status]
            for row_id, status in rows.values_list("instruction_id", "status")
        }

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
        )
        for ours in (REVERSAL_PREFIX, f"{PRENOTE_PREFIX}_"):  # told to nobody: they are our own
            waiting = waiting.exclude(instruction_id__startswith=ours)
        heard = hearing.final_until(self.name)[self.name]
        waiting = waiting.exclude(kind=EventKind.FINAL, entry__is_debit=True, due_at__gt=heard)
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

    def corrected(
        self, event_id: str, *, outcome: CorrectionOutcome, note: str, now: datetime
    ) -> None:
        told = AchEvent.objects.filter(one_of("pk", _numbers([event_id])), rail_id=self.name)
        rows = models.Correction.objects.filter(pk__in=told.values("correction"))
        rows.update(outcome=outcome, outcome_note=note[:OUTCOME_NOTE_MAX], outcome_at=now)

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
            # A bank's own word for a refusal may be longer: the entry has all of it.
            code=row.code[:EVENT_CODE_LENGTH],
            reason=row.reason or (return_codes.title(row.code) if row.code else ""),
            reference=row.reference,
            occurred_at=row.occurred_at,
            settlement_date=row.settlement_date,
            trace_number=row.trace_number,
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
        terms = rails.current(rail).parsed
    except (rails.NoTerms, InvalidTerms):
        return Capabilities(methods=MappingProxyType({}))
    # What is handed over after the lead goes with the next cut-off.
    cutoffs = [Cutoff(_earlier(each.at, terms.lead), each.same_day) for each in terms.cutoffs]
    debit = schemes.ach_debit(cutoffs, same_day_max=terms.same_day_max)
    credit = schemes.ach_credit(cutoffs, same_day_max=terms.same_day_max)
    return Capabilities(
        methods=MappingProxyType(
            {
                Method.ACH_DEBIT: replace(debit, amount_max=terms.entry_max),
                Method.ACH_CREDIT: replace(credit, amount_max=terms.entry_max),
            }
        ),
        together=SUBMIT_MANY_MAX,
        answers_within=ANSWERS_WITHIN_MAX,
    )


def _earlier(at: clock_time, lead: timedelta) -> clock_time:
    minutes = at.hour * 60 + at.minute - int(lead.total_seconds()) // 60
    return clock_time(minutes // 60, minutes % 60)


def _numbers(event_ids: Iterable[str]) -> list[int]:
    """The numbers of events of ours; ids of another form are left out."""
    ends = [each.removeprefix(EVENT_PREFIX) for each in event_ids if each.startswith(EVENT_PREFIX)]
    return [int(end) for end in ends if _NUMBER.fullmatch(end)]
