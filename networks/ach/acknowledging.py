"""What becomes of a sent file once the bank has judged it, or said nothing for long enough.

Each batch moves in a transaction of its own, the file last: whoever is killed in between, the same
acknowledgment applied again does the rest. A first transaction writes down how the answer came and
a digest of what it says, so that of two answers that differ never each is applied to some batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import structlog
from django.db import transaction

from common import database_clock
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import arrays, sql
from networks import calendar
from networks.ach import bank_clock, replying, schedule, sending, telling
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import hearing
from networks.ach.models import AchBatch, OutFile, SpokenAnswer
from networks.ach.models.files import Answered
from networks.ach.states import (
    BATCH_STATES,
    FILE_STATES,
    SPOKEN_STATES,
    BatchStatus,
    EntryStatus,
    FileKind,
    FileStatus,
    SpokenStatus,
)
from networks.ach.terms import AckFormat
from networks.base import EventKind

log = structlog.get_logger(__name__)

_FINAL_TOGETHER = 10_000

# The bank did not take these entries and they are as good as before: new ones take their place.
_REQUEUE = """
WITH refused AS (
    UPDATE ach_achentry SET status = 'requeued', code = %(code)s, ended_at = %(now)s
    WHERE batch_id = %(batch)s AND status = 'sent'
    RETURNING 1
)
SELECT count(*) FROM refused
"""
_REPLACE = """
INSERT INTO ach_achentry (
    instruction_id, rail_id, originator_id, tenant_id, purpose, is_debit, sec, payment_type,
    transaction_code, routing_number, account_token, account_fingerprint, account_last4, name,
    individual_id, company_name, company_id, description, amount, speed, same_day, promised_on,
    original_id, replaces_id, first_number, terms_digest, status, trace_number, waits_for, code,
    created_at
)
SELECT instruction_id, rail_id, originator_id, tenant_id, purpose, is_debit, sec, payment_type,
    transaction_code, routing_number, account_token, account_fingerprint, account_last4, name,
    individual_id, company_name, company_id, description, amount, speed, false, promised_on,
    original_id, id, coalesce(first_number, id), terms_digest, 'waiting', '', '', '', %(now)s
FROM ach_achentry AS refused
WHERE batch_id = %(batch)s AND status = 'requeued'
    AND NOT EXISTS (SELECT FROM ach_achentry AS other WHERE other.replaces_id = refused.id)
ORDER BY id
RETURNING 1
"""
_OF_TRACES = """
SELECT id, trace_number FROM ach_achentry
WHERE batch_id = %(batch)s AND trace_number = ANY(%(traces)s::text::text[])
"""
# Debits and prenotes only where their returns would have been read.
_FINISH = """
WITH heard AS (
    SELECT * FROM unnest(%(rails)s::text::text[], %(untils)s::text::timestamptz[])
        AS heard (rail, until)
), due AS (
    SELECT id FROM ach_achentry AS entry
    WHERE status = 'accepted' AND final_due_at <= %(now)s
        AND (NOT is_debit AND purpose <> 'prenote' OR EXISTS (
            SELECT FROM heard WHERE rail = rail_id AND final_due_at <= until))
    ORDER BY final_due_at LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED
), done AS (
    UPDATE ach_achentry AS entry SET status = 'final', ended_at = entry.final_due_at
    FROM due WHERE entry.id = due.id RETURNING 1
)
SELECT count(*) FROM done
"""


def acknowledged(
    file_id: str,
    *,
    verdict: Verdict,
    rejected_batches: Mapping[int, str],
    rejected_entries: Mapping[str, str],
    now: datetime,
    code: str = "",
    settles: Mapping[int, date] | None = None,
    how: Answered = Answered.FILE,
) -> bool:
    """Apply what the bank says of a file: codes of rejected batches by their number, of rejected
    entries by their trace, and of the whole file; by `settles`, when its batches settle.

    A rejected file or batch is tried again with new entries, a rejected entry is not. Raises
    OutFile.DoesNotExist. False, and nothing changes, if the file was answered before, or never
    sent, or if another answer than this one is being applied.
    """
    sending.sent(file_id, now=now)  # the answer proves it, where we do not know
    said = digest(
        verdict=verdict,
        rejected_batches=rejected_batches,
        rejected_entries=rejected_entries,
        code=code,
        settles=settles,
    )
    if not _begin(file_id, how, said, now):
        return False
    file = OutFile.objects.select_related("version").get(pk=file_id)
    if file.kind == FileKind.REPLY and verdict != Verdict.REJECTED:
        replying.acknowledged(
            file, rejected=rejected_entries, bad_batches=rejected_batches, now=now
        )
    for batch in file.batches.order_by("batch_number"):
        refused = code or verdict if verdict == Verdict.REJECTED else None
        refused = refused or rejected_batches.get(batch.batch_number)
        day = (settles or {}).get(batch.batch_number) or settlement_day(file, batch)
        _answer_batch(batch.pk, refused, rejected_entries, day, now)
    _answer_file(file_id, verdict, bool(rejected_entries), now)
    return True


def digest(
    *,
    verdict: Verdict,
    rejected_batches: Mapping[int, str],
    rejected_entries: Mapping[str, str],
    code: str = "",
    settles: Mapping[int, date] | None = None,
) -> str:
    """The same for answers by which the same is done."""
    said = hashlib.sha256(f"{verdict}\n{code}\n".encode())
    named: Sequence[Mapping[Any, object]] = (rejected_batches, rejected_entries, settles or {})
    for listed in named:
        said.update("\n".join(sorted(f"{name} {what}" for name, what in listed.items())).encode())
        said.update(b"\n\n")
    return said.hexdigest()


@by(WORKER)
@database_clock.judged
def accept_unanswered(rail: str, *, now: datetime) -> list[str]:
    """Accept the files of a bank that acknowledges nothing, once it had time to refuse them. Where
    somebody wrote down that it said something, another person has a banking day to confirm it. Says
    which files wait too long. The ids of those that were accepted."""
    accepted = []
    due = OutFile.objects.filter(
        rail_id=rail, status=FileStatus.SENT, acknowledgment_due_at__lte=now
    ).select_related("version")
    for file in due.order_by("acknowledgment_due_at"):
        is_silent = file.version.parsed.ack_format == AckFormat.NONE
        if is_silent and acknowledged(
            file.pk,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            how=Answered.SILENCE,
            now=now,
        ):
            accepted.append(file.pk)
        else:
            log.error("ach_acknowledgment_missing", file=file.pk, rail=rail)
    return accepted


@by(WORKER)
@database_clock.judged
def finish_final(*, now: datetime) -> int:
    """Accepted entries whose time for ordinary returns is over are final, once what the bank had
    for us by then was read. How many."""
    done, heard = 0, hearing.final_until()
    values = {
        "now": now,
        "most": _FINAL_TOGETHER,
        "rails": arrays.texts(heard),
        "untils": arrays.plain(heard.values()),
    }
    while True:
        ((count,),) = sql.rows(_FINISH, values)
        done += int(count)
        if count < _FINAL_TOGETHER:
            return done


def settlement_day(file: OutFile, batch: AchBatch) -> date:
    """When a batch settles by what we know: on its effective date, unless the file was late."""
    if file.sent_at is None or file.sent_at <= file.cutoff_at:
        return batch.effective_date
    cutoffs = [cutoff.at for cutoff in file.version.parsed.cutoffs]
    return max(batch.effective_date, calendar.settlement_date(file.sent_at, cutoffs))


@transaction.atomic(durable=True)
def _begin(file_id: str, how: Answered, said: str, now: datetime) -> bool:
    """Whether this answer is to be applied. What nobody confirmed of a telephone call is void then,
    but for some time a call speaks against silence."""
    file = OutFile.objects.select_for_update(no_key=True).get(pk=file_id)
    if file.status != FileStatus.SENT:
        return False
    if file.answered_how:
        return _goes_on(file, how, said)
    spoken = SpokenAnswer.objects.select_for_update(no_key=True)
    open_one = spoken.filter(file=file, status=SpokenStatus.PROPOSED).first()
    is_kept = open_one is not None and how == Answered.SILENCE and now < open_one.speaks_until
    if how == Answered.PEOPLE or is_kept:
        return False
    if open_one is not None:
        SPOKEN_STATES.advance(open_one, SpokenStatus.VOID, decided_at=now)
    file.answered_how, file.answer_digest = how, said
    file.save(update_fields=["answered_how", "answer_digest"])
    return True


def _goes_on(file: OutFile, how: Answered, said: str) -> bool:
    """Whether the answer is the one whose applying somebody did not live to end, or ends now."""
    if not file.answer_digest:  # of people, who confirm one, or from before there were digests
        return file.answered_how == how
    return file.answer_digest == said and how != Answered.PEOPLE


@transaction.atomic(durable=True)
def _answer_batch(
    batch_id: int,
    refused: str | None,
    rejected_entries: Mapping[str, str],
    day: date,
    now: datetime,
) -> None:
    batch = AchBatch.objects.select_for_update(no_key=True).get(pk=batch_id)
    if batch.status != BatchStatus.FROZEN:
        return
    if refused is not None:
        sql.rows(_REQUEUE, {"batch": batch_id, "code": refused[:40], "now": now})
        sql.rows(_REPLACE, {"batch": batch_id, "now": now})
        BATCH_STATES.advance(batch, BatchStatus.REJECTED, code=refused[:40])
        return
    _reject_entries(batch_id, rejected_entries, now)
    same_day = batch.same_day and day == batch.effective_date
    settled = schedule.settled_at(day, same_day=same_day)
    debit_final = schedule.final_at(day, is_debit=True, same_day=same_day)
    credit_final = schedule.final_at(day, is_debit=False, same_day=same_day)
    telling.accepted(
        batch_id,
        day=day,
        settled=bank_clock.due_here(settled, now),
        debit_final=bank_clock.due_here(debit_final, now, until_heard=True),
        credit_final=bank_clock.due_here(credit_final, now),
        now=now,
    )
    BATCH_STATES.advance(batch, BatchStatus.ACCEPTED, settlement_date=day)


def _reject_entries(batch_id: int, codes: Mapping[str, str], now: datetime) -> None:
    if not codes:
        return
    found = sql.rows(_OF_TRACES, {"batch": batch_id, "traces": arrays.texts(codes)})
    telling.ended(
        {number: codes[trace][:40] for number, trace in found},
        status=EntryStatus.REJECTED,
        kind=EventKind.REJECTED,
        sources=[EntryStatus.SENT],
        now=now,
    )


@transaction.atomic(durable=True)
def _answer_file(file_id: str, verdict: Verdict, has_rejected: bool, now: datetime) -> None:
    file = OutFile.objects.select_for_update(no_key=True).get(pk=file_id)
    if file.status != FileStatus.SENT:
        return
    batches = set(file.batches.values_list("status", flat=True))
    if verdict == Verdict.REJECTED or batches == {BatchStatus.REJECTED}:
        status = FileStatus.REJECTED
    elif BatchStatus.REJECTED in batches or has_rejected:
        status = FileStatus.PART_REJECTED
    else:
        status = FileStatus.ACKNOWLEDGED
    FILE_STATES.advance(file, status, acknowledged_at=now)
    note = log.info if status == FileStatus.ACKNOWLEDGED else log.error
    note("ach_file_answered", file=file_id, rail=file.rail_id, status=status)
