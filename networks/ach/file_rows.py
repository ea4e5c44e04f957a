"""The row of a file that is being made: the trace numbers it begins with, its minute and modifier,
and its sums.

No two files of one sender have the same minute and modifier.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Count, Sum

from common.database.constraints import violated
from networks import calendar
from networks.ach import bank_clock
from networks.ach.models import OutFile, RailVersion, TraceCounter
from networks.ach.nacha.sums import HASH_MODULUS
from networks.ach.schedule import Window
from networks.ach.states import FileStatus
from networks.ach.terms import ENTRY_AMOUNT_MAX, TOTAL_MAX

_MODIFIERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
TRACES_MAX = 9_999_999
_MINUTES_MAX = 60


def lock_counter(odfi: str) -> TraceCounter:
    """The counter of this bank's traces, and with it the right to freeze for it."""
    TraceCounter.objects.bulk_create([TraceCounter(odfi=odfi)], ignore_conflicts=True)
    return TraceCounter.objects.select_for_update().get(pk=odfi)


def first_trace(counter: TraceCounter, entries_max: int) -> int:
    """Where the numbers of a file begin, so that they ascend: not across the end of the circle."""
    offsets = 2 * (TOTAL_MAX // ENTRY_AMOUNT_MAX + 1)
    return counter.next if counter.next + entries_max + offsets <= TRACES_MAX else 1


def new(version: RailVersion, window: Window, now: datetime) -> OutFile:
    """An unsaved file, dated by the minute in which it is frozen, as its bank's clock has it."""
    moment = bank_clock.at_bank(now).astimezone(calendar.EASTERN)
    return OutFile(
        rail_id=version.rail_id,
        version=version,
        immediate_origin=version.parsed.immediate_origin,
        file_date=moment.date(),
        file_time=time(moment.hour, moment.minute),
        cutoff_at=window.cutoff_at,
        status=FileStatus.BUILDING,
        created_at=now,
    )


def insert(file: OutFile) -> None:
    """Save the file under a modifier that its minute has not used, or in the next minute."""
    for _ in range(_MINUTES_MAX):
        same = OutFile.objects.filter(
            immediate_origin=file.immediate_origin,
            file_date=file.file_date,
            file_time=file.file_time,
        )
        used = set(same.values_list("modifier", flat=True))
        for file.modifier in _MODIFIERS:
            if file.modifier not in used and _is_saved(file):
                return
        later = datetime.combine(file.file_date, file.file_time) + timedelta(minutes=1)
        file.file_date, file.file_time = later.date(), later.time()
    raise RuntimeError("every modifier of many minutes is used")


def _is_saved(file: OutFile) -> bool:
    """False if another one, of a rail with the same origin, has just taken the modifier."""
    try:
        with transaction.atomic():
            file.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) != "one_file_per_modifier":
            raise
        return False
    return True


def sum_up(file: OutFile, *, missed: int) -> None:
    """Write down what the batches of a file come to, and the most cut-offs that an entry of it
    `missed`."""
    sums = file.batches.aggregate(
        batch_count=Count("pk"),
        entry_count=Sum("entry_count"),
        entry_hash=Sum("entry_hash"),
        debit_total=Sum("debit_total"),
        credit_total=Sum("credit_total"),
    )
    sums["entry_hash"] %= HASH_MODULUS
    OutFile.objects.filter(pk=file.pk).update(missed=missed, **sums)
