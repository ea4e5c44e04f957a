"""Makes our rows know a file that the bank has, so that its entries are not sent once more and its
acknowledgment and returns find them.

The file is kept as the bank has it, byte for byte. Its entries that no row of ours knows stay
unknown: only people can say what they were for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import structlog
from django.db import transaction

from common.engine import arrays, sql
from common.errors import StaffRefusal
from networks.ach import building, file_rows, offsets, rails, releasing, schedule, sending
from networks.ach.models import AchBatch, OutFile, RailVersion, TraceCounter
from networks.ach.models.files import Release
from networks.ach.nacha.sums import HASH_MODULUS
from networks.ach.restoring.comparing import Again, Unknown, moment_of
from networks.ach.restoring.reading import BatchThere, EntryThere, FileThere
from networks.ach.sealing import CHUNK_BYTES, Sealing
from networks.ach.states import FILE_STATES, EntryStatus, FileStatus

log = structlog.get_logger(__name__)

_WHY = "The bank has its entries in another file."
_FREEZE = """
UPDATE ach_achentry AS entry
SET status = 'frozen', batch_id = %(batch)s, frozen_at = %(now)s, waits_for = '',
    trace_number = given.trace, same_day = %(same_day)s, effective_date = %(day)s,
    promised_on = %(day)s
FROM unnest(%(ids)s::text::bigint[], %(traces)s::text::text[]) AS given (id, trace)
WHERE entry.id = given.id AND entry.status = 'waiting'
RETURNING entry.id
"""


class CannotTakeOver(StaffRefusal):
    code = "file_not_taken_over"
    title = "The file was not taken over"
    advice = "Read it (read_nacha), and ask the bank what became of it."


def take_over(rail: str, found: Unknown, *, by: str, now: datetime) -> OutFile:
    """Write down that the bank has this file. Raises CannotTakeOver, and other StaffRefusals where
    a worker is sending a file that has the same entries."""
    version = rails.current(rail)
    moment = _require_ours(found.file, version)
    for file_id in sorted(_other_files(found)):
        releasing.take_apart(file_id, by=by, why=_WHY, now=now)
    row = found.row
    if row is None:
        row = _adopt(found, version, moment, by=by, now=now)
    else:
        _build(row, found.file, now)
    _mark_sent(row.pk, found.file, moment, now)
    log.warning("ach_file_taken_over", file=row.pk, rail=rail, lost=len(found.lost))
    return row


@transaction.atomic
def set_counter(odfi: str, following: int) -> TraceCounter:
    """Let the next trace number be this one."""
    counter = file_rows.lock_counter(odfi)
    counter.next = following
    counter.save(update_fields=["next"])
    return counter


def _require_ours(file: FileThere, version: RailVersion) -> datetime:
    """When the file was made."""
    if file.faults:
        raise CannotTakeOver(f"{file.name} has faults: {', '.join(sorted(set(file.faults)))}.")
    moment = moment_of(file)
    if file.header is None or moment is None:
        raise CannotTakeOver(f"{file.name} does not say when it was made.")
    if file.header.immediate_origin.strip() != version.parsed.immediate_origin.strip():
        raise CannotTakeOver(f"{file.name} is of another sender.")
    return moment


def _other_files(found: Unknown) -> set[str]:
    """The unsent files in which entries lie that the bank has in this one."""
    mine = found.row.pk if found.row else ""
    return {
        again.entry.batch.file_id
        for again in found.again
        if again.entry.batch is not None and again.entry.status == EntryStatus.FROZEN
    } - {mine}


def _adopt(
    found: Unknown, version: RailVersion, moment: datetime, *, by: str, now: datetime
) -> OutFile:
    """A file of ours with those of its entries that we know, built as the bank has it."""
    there, header = found.file, found.file.header
    assert header is not None  # noqa: S101  # _require_ours has seen it
    again = {each.there.trace_number: each for each in found.again}
    with transaction.atomic(durable=True):
        file_rows.lock_counter(version.parsed.odfi)
        window = schedule.open_window(version.parsed, moment)
        window = window or schedule.next_window(version.parsed, moment)
        file = file_rows.new(version, window, moment)
        file.kind, file.modifier = there.kind, header.file_id_modifier
        file.save(force_insert=True)
        batches = [
            batch
            for number, batch in enumerate(there.batches, start=1)
            if _adopt_batch(file, number, batch, again, moment)
        ]
        if batches:
            _adopt_offsets(file, there, moment)
            file_rows.sum_up(file, missed=0)
        FILE_STATES.advance(
            file, FileStatus.BUILT, built_at=now, built_by=by, **_sealed(file, there)
        )
    return file


def _adopt_batch(
    file: OutFile, number: int, there: BatchThere, again: dict[str, Again], moment: datetime
) -> bool:
    """Whether there is an entry of ours in it that waits."""
    found = [
        (entry, again[entry.trace_number].entry)
        for entry in there.entries
        if entry.trace_number in again
        and again[entry.trace_number].entry.status != EntryStatus.SENT
    ]
    if not found:
        return False
    ours = [entry for _, entry in found]
    traces = {entry.pk: each.trace_number for each, entry in found}
    batch = _new_batch(
        file, number, there, moment, [each for each, _ in found], ours[0].originator_id
    )
    frozen = sql.rows(
        _FREEZE,
        {
            "batch": batch.pk,
            "now": moment,
            "same_day": batch.same_day,
            "day": batch.effective_date,
            "ids": arrays.plain(each.pk for each in ours),
            "traces": arrays.texts(traces[each.pk] for each in ours),
        },
    )
    if len(frozen) != len(ours):
        raise CannotTakeOver("An entry of it was frozen meanwhile: stop building first.")
    return True


def _adopt_offsets(file: OutFile, there: FileThere, moment: datetime) -> None:
    """Our own account's side of a balanced file: the bank's answer is about these batches, too."""
    originator_id = file.batches.latest("pk").originator_id
    for number, batch in enumerate(there.batches, start=1):
        if offsets.is_one(batch.header):
            _new_batch(file, number, batch, moment, batch.entries, originator_id, is_offset=True)


def _new_batch(
    file: OutFile,
    number: int,
    there: BatchThere,
    moment: datetime,
    entries: Sequence[EntryThere],
    originator_id: str,
    *,
    is_offset: bool = False,
) -> AchBatch:
    """A batch as the bank has it, with these of its entries."""
    header, day = there.header, there.header.effective_entry_date
    if day is None:
        raise CannotTakeOver(f"Batch {number} does not say on which day it settles.")
    return AchBatch.objects.create(
        file=file,
        batch_number=number,
        originator_id=originator_id,
        is_offset=is_offset,
        sec=header.standard_entry_class_code,
        service_class=header.service_class_code,
        company_name=header.company_name,
        company_id=header.company_identification,
        description=header.company_entry_description,
        same_day=day == moment.date(),
        effective_date=day,
        entry_count=len(entries),
        entry_hash=sum(int(each.terms.routing_number[:8]) for each in entries) % HASH_MODULUS,
        debit_total=sum(each.terms.amount for each in entries if each.is_debit),
        credit_total=sum(each.terms.amount for each in entries if not each.is_debit),
        first_trace=min(each.trace_number for each in entries),
    )


def _sealed(file: OutFile, there: FileThere) -> dict[str, object]:
    sealing = Sealing(file.pk)
    for start in range(0, there.size, CHUNK_BYTES):
        sealing.write(there.content[start : start + CHUNK_BYTES])
    sealing.close()
    return {
        "size": sealing.size,
        "sha256": sealing.sha256,
        "chunk_count": sealing.chunks,
        "remote_name": there.name,
    }


def _build(row: OutFile, there: FileThere, now: datetime) -> None:
    """Bring our file to where the bank's was built: it must be the same, byte for byte."""
    if row.status == FileStatus.BUILDING:
        building.build(row.pk, now=now)
        row.refresh_from_db()
    if row.sha256 != there.sha256:
        raise CannotTakeOver(f"{there.name} is not the file that we have built.")
    if row.status == FileStatus.HELD:
        releasing.unhold(row.pk)


def _mark_sent(file_id: str, there: FileThere, moment: datetime, now: datetime) -> None:
    with transaction.atomic():
        file = OutFile.objects.select_for_update(no_key=True).get(pk=file_id)
        if file.status == FileStatus.BUILT:
            FILE_STATES.advance(
                file,
                FileStatus.RELEASED,
                released_at=now,
                released_how=Release.RULE,
                next_attempt_at=now,
            )
        file.temporary_name = file.temporary_name or there.name
        file.save(update_fields=["temporary_name"])
    sending.sent(file_id, now=moment)
