"""Writes the bytes of a frozen file, has them judged, and keeps them.

All of it is one transaction: killed anywhere, it leaves a file that is still to be built, and the
next run begins anew. Entries go through one by one and are never all in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction
from prometheus_client import Counter

from common import crypto
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import arrays, sql
from networks import calendar
from networks.ach import freezing, offsets, rails, releasing, replying
from networks.ach.models import AchBatch, AchEntry, OutFile
from networks.ach.nacha.records import BatchHeader, Entry, EntryDetail, FileHeader
from networks.ach.nacha.validator.judge import Validator
from networks.ach.nacha.validator.terms import Terms
from networks.ach.nacha.writer import DoesNotFit, Writer
from networks.ach.sealing import Reading, Sealing, opened
from networks.ach.states import FILE_STATES, FileKind, FileStatus
from networks.ach.taking import VERIFICATION
from networks.ach.terms import RailTerms

log = structlog.get_logger(__name__)

BUILDER = "system"  # who builds what a cut-off made
FAULTS_KEPT = 100
_READ_TOGETHER = 2_000
# Pages and no cursor: a cursor would be open when a fault undoes what was written.
_ENTRIES = """
SELECT id, instruction_id, transaction_code, routing_number, account_token, amount, individual_id,
    name, payment_type, trace_number
FROM ach_achentry
WHERE batch_id = %(batch)s AND id > %(last)s ORDER BY id LIMIT %(most)s
"""
# Tests of accounts whose debit goes in this file and whose credits went before, because a batch was
# rejected or a call was cut, with what this file takes; what those credits came to; and whether one
# of them has ended since the file was frozen.
_TESTS_ALONE = """
SELECT entry.tenant_id, entry.account_fingerprint,
    sum(CASE WHEN entry.is_debit THEN entry.amount ELSE -entry.amount END)
FROM ach_achbatch AS batch JOIN ach_achentry AS entry ON entry.batch_id = batch.id
WHERE batch.file_id = %(file)s AND batch.description = %(description)s
GROUP BY entry.tenant_id, entry.account_fingerprint
HAVING sum(CASE WHEN entry.is_debit THEN entry.amount ELSE -entry.amount END) > 0
"""
_GIVEN_BEFORE = """
SELECT coalesce(sum(CASE WHEN entry.is_debit THEN -entry.amount ELSE entry.amount END)
        FILTER (WHERE entry.status IN ('frozen', 'sent', 'accepted', 'final')), 0),
    alone.taken, coalesce(bool_or(NOT entry.is_debit AND entry.ended_at >= %(frozen)s
        AND entry.status IN ('returned', 'rejected', 'requeued')), false)
FROM unnest(
        %(tenants)s::text::text[], %(accounts)s::text::text[], %(taken)s::text::bigint[]
    ) AS alone (tenant, account, taken)
LEFT JOIN (ach_achentry AS entry
        JOIN ach_achbatch AS batch ON batch.id = entry.batch_id AND batch.file_id <> %(file)s)
    ON entry.rail_id = %(rail)s AND entry.purpose = 'verification'
        AND entry.tenant_id = alone.tenant AND entry.account_fingerprint = alone.account
GROUP BY alone.tenant, alone.account, alone.taken
"""
_CAME_BACK = "What a test of an account gave came back meanwhile: its debit must not go."
_FAULTY = Counter("ballast_ach_files_with_faults", "Files that were not offered", ["rail"])


class _TestCameBack(Exception):
    """The debit of a test of an account must not leave, because its credits came back."""


class _Faulty(Exception):
    """The file must not leave."""

    def __init__(self, faults: list[dict[str, Any]]) -> None:
        super().__init__()
        self.faults = faults


@by(WORKER)
def build_next(rail: str, *, now: datetime, by: str = BUILDER) -> str | None:
    """Build the file of this rail that has waited longest and that nobody builds. Its id."""
    if not freezing.may_build(rail, rails.current(rail)):
        return None
    waiting = OutFile.objects.filter(rail_id=rail, status=FileStatus.BUILDING)
    for file_id in waiting.order_by("cutoff_at", "pk").values_list("pk", flat=True)[:100]:
        if build(file_id, now=now, by=by):
            return file_id
    return None


def build(file_id: str, *, now: datetime, by: str = BUILDER) -> bool:
    """Whether this call built the file, held it for its faults, or took it apart. False if somebody
    else has it, or it is built."""
    with transaction.atomic(durable=True):
        file = (
            OutFile.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
            .select_related("version")
            .filter(pk=file_id, status=FileStatus.BUILDING)
            .first()
        )
        if file is None:
            return False
        try:
            with transaction.atomic():
                built = _written(file)
        except _Faulty as error:
            _hold(file, error.faults, now)
        except _TestCameBack:  # the next freeze leaves that debit out
            log.warning("ach_test_came_back", file=file.pk, rail=file.rail_id)
            releasing.part(file, by=BUILDER, why=_CAME_BACK, missed=0, now=now)
        else:
            who = file.built_by or by  # a person had it built again
            FILE_STATES.advance(file, FileStatus.BUILT, built_at=now, built_by=who, **built)
            releasing.release_by_rule(file, now=now)
    return True


def remote_name(file: OutFile) -> str:
    """What the file is called at the bank."""
    return file.version.parsed.file_name_pattern.format(
        date=f"{file.file_date:%Y%m%d}",
        time=f"{file.file_time:%H%M}",
        modifier=file.modifier,
        rail=file.rail_id,
    )


def _hold(file: OutFile, faults: list[dict[str, Any]], now: datetime) -> None:
    log.error("ach_file_has_faults", file=file.pk, faults=faults[:5])
    _FAULTY.labels(rail=file.rail_id).inc()
    FILE_STATES.advance(
        file,
        FileStatus.HELD,
        faults=faults,
        held_at=now,
        held_by=BUILDER,
        held_why="The file has faults and must not leave.",
    )


def _written(file: OutFile) -> dict[str, Any]:
    """The columns of the file as it is built. Raises _Faulty, _TestCameBack."""
    sealing = Sealing(file.pk)
    try:
        control = _write(file, sealing)
    except DoesNotFit as error:
        raise _Faulty([_fault(error.line, "does_not_fit", error.problem)]) from error
    except crypto.Undecryptable as error:
        raise _Faulty([_fault(0, "account_unreadable", "an account does not open")]) from error
    sums = (
        control.batch_count,
        control.entry_addenda_count,
        control.entry_hash,
        control.total_debit_entry_dollar_amount,
        control.total_credit_entry_dollar_amount,
    )
    frozen = (
        file.batch_count,
        file.entry_count,
        file.entry_hash,
        file.debit_total,
        file.credit_total,
    )
    if sums != frozen:
        raise _Faulty([_fault(0, "sums_differ", "what was written is not what was frozen")])
    _judge(file, sealing)
    return {
        "size": sealing.size,
        "sha256": sealing.sha256,
        "chunk_count": sealing.chunks,
        "remote_name": remote_name(file),
    }


def _write(file: OutFile, sealing: Sealing) -> Any:
    terms = file.version.parsed
    writer = Writer(sealing, _file_header(file, terms))
    for batch in file.batches.order_by("batch_number"):
        entries = _offsets(file, batch) if batch.is_offset else _entries_of(file, batch)
        writer.batch(_batch_header(batch, terms), entries)
    control = writer.close()
    sealing.close()
    return control


def _judge(file: OutFile, sealing: Sealing) -> None:
    """Judge what is stored: these are the bytes that will be sent. Raises _Faulty, and
    _TestCameBack."""
    terms = file.version.parsed
    reading = Reading(opened(file.pk))
    # Our side of a balanced file, and what we answer to a bank, are as large as they are.
    has_ceilings = file.kind == FileKind.FORWARD and not _has_offsets(file)
    allowed = Terms(
        entry_max=terms.entry_max if has_ceilings else Terms().entry_max,
        same_day_max=terms.same_day_max if has_ceilings else Terms().entry_max,
        file_max=terms.file_max,
        tests_given=_tests_given(file),
        is_banking_day=calendar.is_banking_day,
    )
    faults = []
    for each in Validator(reading, allowed):
        faults.append(_fault(each.line, each.code, each.detail))
        if len(faults) == FAULTS_KEPT:
            break
    if not faults and (reading.sha256, reading.size) != (sealing.sha256, sealing.size):
        faults.append(_fault(0, "bytes_differ", "what was stored is not what was written"))
    if faults:
        raise _Faulty(faults)


def _tests_given(file: OutFile) -> int:
    """Cents that tests of accounts gave in earlier files and take back in this one. Raises
    _TestCameBack if this one would take back more since it was frozen."""
    alone = sql.rows(_TESTS_ALONE, {"file": file.pk, "description": VERIFICATION})
    if not alone:
        return 0
    tenants, accounts, taken = zip(*alone, strict=True)
    values = {
        "tenants": arrays.texts(tenants),
        "accounts": arrays.texts(accounts),
        "taken": arrays.plain(taken),
        "frozen": file.created_at,
    }
    found = sql.rows(_GIVEN_BEFORE, {"file": file.pk, "rail": file.rail_id, **values})
    if any(back > given and has_ended for given, back, has_ended in found):
        raise _TestCameBack
    return sum(int(given) for given, _, _ in found)


def _has_offsets(file: OutFile) -> bool:
    return file.batches.filter(is_offset=True).exists()


def _fault(line: int, code: str, detail: str) -> dict[str, Any]:
    return {"line": line, "code": code, "detail": detail}


def _file_header(file: OutFile, terms: RailTerms) -> FileHeader:
    return FileHeader(
        immediate_destination=terms.immediate_destination,
        immediate_origin=terms.immediate_origin,
        file_creation_date=file.file_date,
        file_creation_time=file.file_time,
        file_id_modifier=file.modifier,
        immediate_destination_name=terms.immediate_destination_name,
        immediate_origin_name=terms.immediate_origin_name,
        reference_code="",
    )


def _batch_header(batch: AchBatch, terms: RailTerms) -> BatchHeader:
    return BatchHeader(
        service_class_code=batch.service_class,
        company_name=batch.company_name,
        company_discretionary_data="",
        company_identification=batch.company_id,
        standard_entry_class_code=batch.sec,
        company_entry_description=batch.description,
        company_descriptive_date="",
        effective_entry_date=batch.effective_date,
        settlement_date=None,
        originator_status_code="1",
        originating_dfi_identification=terms.odfi,
        batch_number=batch.batch_number,
    )


def _entries_of(file: OutFile, batch: AchBatch) -> Iterator[Entry]:
    return replying.entries(batch) if file.kind == FileKind.REPLY else _entries(batch)


def _entries(batch: AchBatch) -> Iterator[Entry]:
    """In the order of their trace numbers, which is that of their ids."""
    context_of, decrypt = AchEntry.context_of, crypto.decrypt
    last = 0
    while rows := sql.rows(_ENTRIES, {"batch": batch.pk, "last": last, "most": _READ_TOGETHER}):
        for _, instruction, code, bank, token, cents, person, name, kind, trace in rows:
            number = decrypt(token, context=context_of(instruction))
            yield Entry(
                EntryDetail(code, bank[:8], bank[8], number, cents, person, name, kind, 0, trace)
            )
        last = rows[-1][0]


def _offsets(file: OutFile, batch: AchBatch) -> Iterator[Entry]:
    """Entries on our own account."""
    terms = file.version.parsed
    account = file.version.offset_account
    trace = int(batch.first_trace)
    for code, total in ((27, batch.debit_total), (22, batch.credit_total)):
        for cents in offsets.amounts(total):
            detail = EntryDetail(
                code,
                terms.offset_routing[:8],
                terms.offset_routing[8],
                account,
                cents,
                "",
                terms.company_name,
                "",
                0,
                f"{trace:015d}",
            )
            yield Entry(detail)
            trace += 1
