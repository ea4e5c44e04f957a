"""Days that were promised and cannot be kept, because no file takes the entries: told once the day
is lost, and not when a file leaves at last.

While files are made, `freezing` tells of what it puts into one later, or leaves out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common import database_clock
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import arrays, sql
from networks.ach import freezing, rails, schedule
from networks.ach.models import AchBatch
from networks.ach.models.rails import RailVersion
from networks.ach.states import FileStatus

_TOGETHER = 10_000
_DAY = """CASE WHEN %(same_day)s AND speed = 'same_day' AND amount <= %(same_day_max)s
    THEN %(today)s::date ELSE %(tomorrow)s::date END"""
# `which` entries: those that a file would take now, or next, on a later day than was told.
_TELL = """
WITH late AS (
    SELECT id, {day} AS day FROM ach_achentry
    WHERE {which} AND promised_on < {day}
    ORDER BY id LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
), changed AS (
    UPDATE ach_achentry AS entry SET promised_on = late.day FROM late
    WHERE entry.id = late.id
    RETURNING entry.id, rail_id, instruction_id, amount, trace_number, late.day,
        coalesce(first_number, entry.id) AS number
), told AS (
    INSERT INTO ach_achevent (
        rail_id, entry_id, instruction_id, kind, code, reason, amount, settlement_date,
        trace_number, reference, occurred_at, due_at, acknowledged
    )
    SELECT rail_id, id, instruction_id, 'rescheduled', '', '', amount, day, trace_number,
        'ACH' || lpad(number::text, 12, '0'), %(now)s, %(now)s, false
    FROM changed ORDER BY id
)
SELECT count(*) FROM changed
"""
_WAITING = _TELL.format(day=_DAY, which="rail_id = %(rail)s AND status = 'waiting'")
_HELD = _TELL.format(
    day=_DAY, which="batch_id = ANY(%(batches)s::text::bigint[]) AND status = 'frozen'"
)


@by(WORKER)
@database_clock.judged
def tell_late(rail: str, *, now: datetime) -> int:
    """Tell of entries that wait while no files are made, and of those in files that are held past
    their cut-off. Returns how many."""
    version = rails.current(rail)
    values = _values(version, now)
    told = 0
    if not freezing.may_build(rail, version):
        told += _tell(_WAITING, values)
    held = AchBatch.objects.filter(
        file__rail=rail, file__status=FileStatus.HELD, file__cutoff_at__lte=now, is_offset=False
    )
    if batches := list(held.values_list("pk", flat=True)):
        told += _tell(_HELD, {**values, "batches": arrays.plain(batches)})
    return told


def _tell(statement: str, values: dict[str, Any]) -> int:
    told = 0
    while True:
        ((count,),) = sql.rows(statement, values)
        told += int(count)
        if count < _TOGETHER:
            return told


def _values(version: RailVersion, now: datetime) -> dict[str, Any]:
    terms = version.parsed
    window = schedule.open_window(terms, now) or schedule.next_window(terms, now)
    return {
        "rail": version.rail_id,
        "now": now,
        "most": _TOGETHER,
        "same_day": window.same_day,
        "same_day_max": terms.same_day_max,
        "today": schedule.effective_date(window, same_day=True),
        "tomorrow": schedule.effective_date(window, same_day=False),
    }
