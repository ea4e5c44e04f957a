"""At each cut-off: which entries go, in which file and batch, under which trace numbers.

One file is frozen in one transaction, by statements over all its entries. Whoever freezes for a
bank holds the row of its trace counter, so that limits are judged one after the other; building,
which takes longer, is done side by side. What exceeds a limit waits, and says for what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from common import drift
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import arrays, sql
from networks import calendar
from networks.ach import file_rows, offsets, prenotes, rails, schedule
from networks.ach.models import OutFile, RailVersion
from networks.ach.models.rails import RailPart
from networks.ach.schedule import Window

log = structlog.get_logger(__name__)

MISSED_ALARM = 2
CLOCKS_APART_MAX = 2.0  # seconds; a wrong clock would date a file wrongly

# How much of each originator may still go. `room` stands for any limit: null is none.
_ROOM = """
SELECT originator.id, originator.debits_stopped_at IS NOT NULL AS stopped,
    originator.daily_debit_max - coalesce(sum(batch.debit_total), 0),
    originator.daily_credit_max - coalesce(sum(batch.credit_total), 0),
    originator.exposure_max - CASE WHEN originator.exposure_max IS NULL THEN 0 ELSE (
        SELECT coalesce(sum(entry.amount), 0) FROM ach_achentry AS entry
        WHERE entry.rail_id = %(rail)s AND entry.originator_id = originator.id
            AND entry.status IN ('frozen', 'sent', 'accepted')) END
FROM ach_originator AS originator
LEFT JOIN (ach_achbatch AS batch JOIN ach_outfile AS file ON file.id = batch.file_id
        AND file.kind = 'forward' AND file.status NOT IN ('withdrawn', 'rejected')
        AND file.cutoff_at >= %(day_start)s AND file.cutoff_at < %(day_end)s)
    ON batch.originator_id = originator.id AND batch.status <> 'rejected' AND NOT batch.is_offset
WHERE originator.rail_id = %(rail)s
GROUP BY originator.id
"""
_DAY_TOTAL = """
SELECT coalesce(sum(batch.debit_total + batch.credit_total), 0)
FROM ach_achbatch AS batch JOIN ach_outfile AS file ON file.id = batch.file_id
WHERE file.rail_id = %(rail)s AND file.kind = 'forward'
    AND file.status NOT IN ('withdrawn', 'rejected')
    AND file.cutoff_at >= %(day_start)s AND file.cutoff_at < %(day_end)s
    AND batch.status <> 'rejected' AND NOT batch.is_offset
"""

# The limits are judged one after the other, each among those that the one before let pass: an entry
# that alone has no room leaves it to later ones, and among the others the oldest go first. Tests of
# accounts pass all of them, because their credits and debits go together, and so do reversals,
# because they are too late after some days (`taking.NEVER_STOPPED`). A test takes back no more than
# it gave, here or in an earlier file: its debit waits for its credits. In the end the file is
# full at the first entry that its own ceilings do not hold; the rest of a test that it would part
# goes with the next file, too.
_FREEZE = f"""
WITH waiting AS MATERIALIZED (
    SELECT id, originator_id, is_debit, sec, company_name, company_id, description, amount,
        routing_number, promised_on, missed, waits_for, purpose = 'verification' AS is_test,
        purpose IN ('verification', 'reversal', 'prenote') AS is_free,
        purpose IN ('topup', 'payment') AS is_asked_first,
        tenant_id, account_fingerprint, instruction_id, coalesce(first_number, id) AS number,
        CASE WHEN %(next_same_day)s AND speed = 'same_day' AND amount <= %(same_day_max)s
            THEN %(next_today)s::date ELSE %(next_tomorrow)s::date END AS next_date,
        %(window_same_day)s AND speed = 'same_day' AND amount <= %(same_day_max)s AS same_day
    FROM ach_achentry
    WHERE rail_id = %(rail)s AND status = 'waiting' AND id > %(after)s
        AND (created_at < %(frozen_from)s OR purpose = 'prenote')
    ORDER BY id LIMIT %(entries_max)s + 1
    FOR NO KEY UPDATE SKIP LOCKED
), tests AS (
    SELECT tenant_id, account_fingerprint,
        sum(CASE WHEN is_debit THEN amount ELSE -amount END) AS taken
    FROM waiting WHERE is_test GROUP BY tenant_id, account_fingerprint
), uncovered AS MATERIALIZED (
    SELECT tenant_id, account_fingerprint FROM tests
    WHERE taken > 0 AND taken > (
        SELECT coalesce(
            sum(CASE WHEN former.is_debit THEN -former.amount ELSE former.amount END), 0)
        FROM ach_achentry AS former
        WHERE former.rail_id = %(rail)s AND former.purpose = 'verification'
            AND former.tenant_id = tests.tenant_id
            AND former.account_fingerprint = tests.account_fingerprint
            AND former.status IN ('frozen', 'sent', 'accepted', 'final'))
), roomy AS (
    SELECT waiting.*, room.stopped, room.exposure,
        CASE WHEN waiting.is_debit THEN room.debit ELSE room.credit END AS daily,
        CASE WHEN amount > %(entry_max)s THEN 'entry_limit'
            WHEN sec <> ALL(%(secs)s::text::text[]) THEN 'sec_not_allowed'
            WHEN is_test AND is_debit AND (tenant_id, account_fingerprint)
                IN (SELECT * FROM uncovered) THEN 'test_not_covered'
            WHEN is_free THEN ''
            WHEN %(prenotes)s AND is_asked_first AND NOT {prenotes.ANSWERED} THEN 'prenote'
            WHEN room.stopped AND is_debit THEN 'debits_stopped'
            ELSE '' END AS reason_first
    FROM waiting JOIN unnest(
        %(originators)s::text::text[], %(stopped)s::text::boolean[], %(debits)s::text::bigint[],
        %(credits)s::text::bigint[], %(exposures)s::text::bigint[]
    ) AS room (id, stopped, debit, credit, exposure) ON room.id = waiting.originator_id
), by_day AS (
    SELECT *, CASE
        WHEN reason_first <> '' OR is_free THEN reason_first
        WHEN amount > daily OR sum(amount) FILTER (WHERE reason_first = '' AND amount <= daily)
            OVER (PARTITION BY originator_id, is_debit ORDER BY id) > daily THEN 'daily_limit'
        ELSE '' END AS reason
    FROM roomy
), by_exposure AS (
    SELECT *, CASE
        WHEN reason <> '' OR is_free THEN reason
        WHEN amount > exposure OR sum(amount) FILTER (WHERE reason = '' AND amount <= exposure)
            OVER (PARTITION BY originator_id ORDER BY id) > exposure THEN 'exposure'
        ELSE '' END AS reason_then
    FROM by_day
), by_rail AS (
    SELECT *, CASE
        WHEN reason_then <> '' OR is_free THEN reason_then
        WHEN amount > %(day_room)s OR
            sum(amount) FILTER (WHERE reason_then = '' AND amount <= %(day_room)s)
            OVER (ORDER BY id) > %(day_room)s THEN 'rail_limit'
        ELSE '' END AS left_for
    FROM by_exposure
), judged AS MATERIALIZED (
    SELECT *, CASE WHEN left_for = 'prenote' AND waits_for <> 'prenote'
            THEN greatest(next_date, %(answered_then)s::date) ELSE next_date END AS later_date,
        row_number() OVER (ORDER BY id) > %(entries_max)s OR coalesce(greatest(
            sum(amount) FILTER (WHERE left_for = '' AND (is_debit OR %(balanced)s))
                OVER (ORDER BY id),
            sum(amount) FILTER (WHERE left_for = '' AND (NOT is_debit OR %(balanced)s))
                OVER (ORDER BY id)
        ) > %(file_max)s, false) AS is_full
    FROM by_rail
), cut AS (
    SELECT account_fingerprint, originator_id FROM (
        SELECT * FROM judged WHERE is_full ORDER BY id LIMIT 1) AS first WHERE is_test
), fitting AS MATERIALIZED (
    SELECT judged.*, is_full OR is_test AND id > (SELECT min(id) FROM waiting)
        AND (account_fingerprint, originator_id) IN (SELECT * FROM cut) AS is_beyond
    FROM judged
), going AS MATERIALIZED (
    SELECT id, originator_id, is_debit, sec, company_name, company_id, description, amount,
        routing_number, same_day, missed,
        CASE WHEN same_day THEN %(today)s::date ELSE %(tomorrow)s::date END AS effective_date,
        (row_number() OVER (
            PARTITION BY originator_id, company_name, company_id, sec, is_debit, description,
                same_day
            ORDER BY id) - 1) / %(batch_max)s AS piece
    FROM fitting WHERE left_for = '' AND NOT is_beyond
), placed AS MATERIALIZED (
    SELECT *,
        dense_rank() OVER batches AS batch_number,
        row_number() OVER (ORDER BY originator_id, company_name, company_id, sec, is_debit,
            description, same_day, piece, id) - 1 AS place
    FROM going
    WINDOW batches AS (ORDER BY originator_id, company_name, company_id, sec, is_debit,
        description, same_day, piece)
), batches AS (
    INSERT INTO ach_achbatch (
        file_id, batch_number, originator_id, is_offset, sec, service_class, company_name,
        company_id, description, same_day, effective_date, entry_count, entry_hash, debit_total,
        credit_total, first_trace, status, code
    )
    SELECT %(file)s, batch_number, min(originator_id), false, min(sec),
        CASE WHEN bool_or(is_debit) THEN 225 ELSE 220 END, min(company_name), min(company_id),
        min(description), bool_or(same_day), min(effective_date), count(*),
        mod(sum(left(routing_number, 8)::bigint), 10000000000),
        coalesce(sum(amount) FILTER (WHERE is_debit), 0),
        coalesce(sum(amount) FILTER (WHERE NOT is_debit), 0),
        %(odfi)s || lpad((%(first_trace)s + min(place))::text, 7, '0'), 'frozen', ''
    FROM placed GROUP BY batch_number
    RETURNING id, batch_number
), frozen AS (
    UPDATE ach_achentry AS entry
    SET status = 'frozen', batch_id = batches.id, frozen_at = %(now)s, waits_for = '',
        trace_number = %(odfi)s || lpad((%(first_trace)s + placed.place)::text, 7, '0'),
        same_day = placed.same_day, effective_date = placed.effective_date,
        promised_on = placed.effective_date
    FROM placed JOIN batches USING (batch_number)
    WHERE entry.id = placed.id
), left_out AS (
    UPDATE ach_achentry AS entry
    SET waits_for = judged.left_for, promised_on = greatest(entry.promised_on, judged.later_date)
    FROM judged
    WHERE entry.id = judged.id AND judged.left_for <> ''
        AND (judged.waits_for <> judged.left_for OR entry.promised_on < judged.later_date)
), told AS (
    INSERT INTO ach_achevent (
        rail_id, entry_id, instruction_id, kind, code, reason, amount, settlement_date,
        trace_number, reference, occurred_at, due_at, acknowledged
    )
    SELECT %(rail)s, waiting.id, waiting.instruction_id, 'rescheduled', '', '', waiting.amount,
        later.day, '', 'ACH' || lpad(waiting.number::text, 12, '0'), %(now)s, %(now)s, false
    FROM waiting JOIN (
        SELECT id, effective_date AS day FROM placed
        UNION ALL SELECT id, later_date FROM judged WHERE left_for <> ''
    ) AS later USING (id)
    WHERE waiting.promised_on < later.day
    ORDER BY waiting.id
)
SELECT (SELECT count(*) FROM waiting), (SELECT count(*) FROM placed),
    (SELECT coalesce(max(id), 0) FROM fitting WHERE NOT is_beyond),
    (SELECT coalesce(max(missed), 0) FROM placed),
    (SELECT count(*) FROM judged WHERE left_for <> '')
"""  # noqa: S608  # our own text


@dataclass(frozen=True)
class Frozen:
    """What one transaction did: the file's id (empty: none was needed), and where to go on."""

    file_id: str
    looked_at: int
    after: int


@by(WORKER)
def freeze_due(rail: str, *, now: datetime) -> list[str]:
    """Put all entries that the open cut-off takes into files, which have to be built. Their ids.

    None while building is stopped, or while the clock is wrong: dates would be. Whoever calls it
    again finds what is left.
    """
    version = rails.current(rail)
    window = schedule.open_window(version.parsed, now)
    if window is None or not may_build(rail, version):
        return []
    files, after = [], 0
    while True:
        done = _freeze_one(version, window, after=after, now=now)
        if done.file_id:
            files.append(done.file_id)
        if not done.looked_at or done.after <= after:
            return files
        after = done.after


def may_build(rail: str, version: RailVersion) -> bool:
    """Whether files may be made now."""
    if drift.is_apart(CLOCKS_APART_MAX):
        log.error("ach_clocks_differ", rail=rail)
        return False
    return version.parsed.active and not rails.is_stopped(rail, RailPart.BUILDING)


@transaction.atomic(durable=True)
def _freeze_one(version: RailVersion, window: Window, *, after: int, now: datetime) -> Frozen:
    terms = version.parsed
    counter = file_rows.lock_counter(terms.odfi)
    if terms.prenotes:
        prenotes.end_refused(version.rail_id, now=now)
        prenotes.ask(version.rail_id, window, now=now)
    first = file_rows.first_trace(counter, terms.entries_per_file_max)
    file = file_rows.new(version, window, now)
    values = _values(version, window, file, after=after, first_trace=first, now=now)
    ((looked_at, placed, reached, missed, left_out),) = sql.rows(_FREEZE, values)
    if left_out:
        log.warning("ach_entries_left_out", rail=version.rail_id, entries=left_out)
    if not placed:
        return Frozen("", looked_at, reached)
    # References are judged at the end of the transaction.
    file_rows.insert(file)
    offset_count = offsets.insert(version, file, first + placed)
    counter.next = first + placed + offset_count
    counter.save(update_fields=["next"])
    file_rows.sum_up(file, missed=missed)
    if missed >= MISSED_ALARM:
        log.error("ach_entries_missed_cutoffs", file=file.pk, missed=missed)
    return Frozen(file.pk, looked_at, reached)


def _values(
    version: RailVersion,
    window: Window,
    file: OutFile,
    *,
    after: int,
    first_trace: int,
    now: datetime,
) -> dict[str, Any]:
    """What `_FREEZE` needs."""
    terms = version.parsed
    after_it = schedule.next_window(terms, window.frozen_from)
    today = window.cutoff_at.astimezone(calendar.EASTERN).date()
    day = {
        "rail": version.rail_id,
        "day_start": calendar.opening_of_business(today) - timedelta(hours=8, minutes=30),
        "day_end": calendar.opening_of_business(today) + timedelta(hours=15, minutes=30),
    }
    rooms: Sequence[Any] = list(zip(*sql.rows(_ROOM, day), strict=True)) or [()] * 5
    ((day_total,),) = sql.rows(_DAY_TOTAL, day)
    return {
        "rail": version.rail_id,
        "file": file.pk,
        "odfi": terms.odfi,
        "first_trace": first_trace,
        "after": after,
        "now": now,
        "frozen_from": window.frozen_from,
        "today": schedule.effective_date(window, same_day=True),
        "tomorrow": schedule.effective_date(window, same_day=False),
        "window_same_day": window.same_day,
        "next_today": schedule.effective_date(after_it, same_day=True),
        "next_tomorrow": schedule.effective_date(after_it, same_day=False),
        "next_same_day": after_it.same_day,
        "same_day_max": terms.same_day_max,
        "entry_max": terms.entry_max,
        "secs": arrays.texts(terms.secs),
        "entries_max": terms.entries_per_file_max,
        "batch_max": terms.entries_per_batch_max,
        "file_max": terms.file_max,
        "day_room": terms.day_max - int(day_total),
        "balanced": offsets.are_needed(terms),
        **prenotes.days(window, asked=terms.prenotes),
        "originators": arrays.mixed(rooms[0]),
        "stopped": arrays.mixed(rooms[1]),
        "debits": arrays.mixed(rooms[2]),
        "credits": arrays.mixed(rooms[3]),
        "exposures": arrays.mixed(rooms[4]),
    }
