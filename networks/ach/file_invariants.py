"""What must hold for entries and the files that they are sent in: a part of the audit.

It looks at files that are on their way, and at those that were answered since the last look.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits, crypto
from common.audits import NEVER, Finding, Scope
from networks.ach import sealing

_BYTES_TOGETHER = 20  # files whose bytes one look decrypts

_FILES = """
files AS MATERIALIZED (
    SELECT * FROM ach_outfile
    WHERE status IN ('building', 'built', 'held', 'released', 'sent')
        OR acknowledged_at > %(since)s
)
"""
_FILE_SUMS = f"""
WITH {_FILES}
SELECT '', files.id, 'its totals are not those of its batches'
FROM files CROSS JOIN LATERAL (
    SELECT count(*) AS batches, coalesce(sum(entry_count), 0) AS entries,
        mod(coalesce(sum(entry_hash), 0), 10000000000) AS hash,
        coalesce(sum(debit_total), 0) AS debit, coalesce(sum(credit_total), 0) AS credit
    FROM ach_achbatch WHERE file_id = files.id
) AS found
WHERE (batch_count, entry_count, entry_hash, debit_total, credit_total)
    IS DISTINCT FROM (batches, entries, hash, debit, credit)
"""  # noqa: S608  # our own text
# By batch: what its entries come to, and how many are where no entry of its file can be.
_BATCHES = f"""
WITH {_FILES}, batches AS MATERIALIZED (
    SELECT batch.*, files.status AS file_status
    FROM files JOIN ach_achbatch AS batch ON batch.file_id = files.id
    WHERE NOT batch.is_offset AND files.kind = 'forward'
), found AS MATERIALIZED (
    SELECT batches.id,
        count(entry.id) AS entries, count(DISTINCT entry.trace_number) AS traces,
        min(entry.trace_number) AS first,
        coalesce(mod(sum(left(entry.routing_number, 8)::bigint), 10000000000), 0) AS hash,
        coalesce(sum(entry.amount) FILTER (WHERE entry.is_debit), 0) AS debit,
        coalesce(sum(entry.amount) FILTER (WHERE NOT entry.is_debit), 0) AS credit,
        count(*) FILTER (WHERE entry.status <> ALL (CASE
            WHEN batches.file_status IN ('building', 'built', 'held', 'released')
                THEN '{{frozen}}'::text[]
            WHEN batches.status = 'frozen' THEN '{{sent,returned,rejected}}'
            WHEN batches.status = 'rejected' THEN '{{requeued,returned,rejected}}'
            ELSE '{{accepted,final,returned,rejected}}' END)) AS misplaced,
        count(*) FILTER (WHERE entry.accepted_at IS NOT NULL) AS accepted,
        count(*) FILTER (WHERE entry.status = 'requeued') AS requeued
    FROM batches LEFT JOIN ach_achentry AS entry ON entry.batch_id = batches.id
    GROUP BY batches.id
)
SELECT batches.file_id, batches.batch_number,
    (batches.entry_count, batches.entry_count, batches.first_trace, batches.entry_hash,
        batches.debit_total, batches.credit_total)
        IS DISTINCT FROM (entries, traces, first, hash, debit, credit) AS sums,
    misplaced > 0 AS misplaced,
    accepted > 0 AND 3 * accepted <> (
        SELECT count(*) FROM ach_achentry AS entry
        JOIN ach_achevent AS event ON event.entry_id = entry.id
        WHERE entry.batch_id = batches.id AND entry.accepted_at IS NOT NULL
            AND event.kind IN ('accepted', 'settled', 'final')
            AND (event.instruction_id, event.amount, event.settlement_date)
                = (entry.instruction_id, entry.amount, entry.settlement_date)
            AND (event.kind <> 'final' OR event.due_at >= entry.final_due_at)
            AND (event.voided_at IS NULL OR entry.status IN ('returned', 'rejected'))
    ) AS untold,
    requeued > 0 AND requeued <> (
        SELECT count(*) FROM ach_achentry AS entry
        JOIN ach_achentry AS other ON other.replaces_id = entry.id
        WHERE entry.batch_id = batches.id AND entry.status = 'requeued') AS unreplaced
FROM batches JOIN found USING (id)
"""  # noqa: S608  # our own text
_BATCH_FINDINGS = """
WITH judged AS ({batches})
SELECT '', file_id, 'batch ' || batch_number || {words}
FROM judged WHERE {column}
"""
_BATCH_RULES = (
    ("ach_batch_sums", "sums", "' does not add up to its entries'"),
    ("ach_entry_misplaced", "misplaced", "' has entries that do not fit its file'"),
    ("ach_entry_untold", "untold", "' was accepted, and not all of that was foretold'"),
    ("ach_entry_unreplaced", "unreplaced", "' was rejected, and not every entry is replaced'"),
)
# What is stuck waits for people, who see it at the desk.
_NEVER_SENT = f"""
SELECT '', id, 'is released and never due: ' || coalesce(next_attempt_at::text, 'no time')
FROM ach_outfile
WHERE status = 'released' AND stuck_at IS NULL
    AND (next_attempt_at IS NULL OR next_attempt_at > ballast_now() + {NEVER})
"""  # noqa: S608  # our own text
_NEVER_FINAL = f"""
SELECT '', instruction_id, 'is accepted and never final'
FROM ach_achentry
WHERE status = 'accepted' AND (final_due_at IS NULL OR final_due_at > ballast_now() + {NEVER})
"""  # noqa: S608  # our own text
# What people said that a bank answered is what two of them agreed on, and nothing else.
_SPOKEN = f"""
WITH {_FILES}
SELECT '', file.id, 'is ' || file.status || ', answered by ' || coalesce(
    nullif(file.answered_how, ''), 'nobody') || '; two people said: '
    || coalesce(answer.verdict, 'nothing')
FROM (
    SELECT id, status, answered_how FROM files
    UNION
    SELECT id, status, answered_how FROM ach_outfile WHERE %(full)s
) AS file
LEFT JOIN ach_spokenanswer AS answer
    ON answer.file_id = file.id AND answer.status = 'confirmed'
WHERE (file.answered_how = 'people') <> (answer.id IS NOT NULL)
    OR answer.proposed_by = answer.decided_by
    OR file.status NOT IN ('sent',
        CASE answer.verdict WHEN 'accepted' THEN 'acknowledged' ELSE answer.verdict END)
"""  # noqa: S608  # our own text
# A whole look, which counts the pieces of every file both ways: once a day.
_PIECES = """
SELECT '', id, 'has ' || pieces || ' pieces of ' || chunk_count
FROM (
    SELECT id, chunk_count,
        (SELECT count(*) FROM ach_outfilechunk WHERE file_id = file.id) AS pieces
    FROM ach_outfile AS file WHERE built_at IS NOT NULL
    UNION ALL
    SELECT id, chunk_count, (SELECT count(*) FROM ach_infilechunk WHERE file_id = file.id)
    FROM ach_infile AS file
) AS found
WHERE pieces <> chunk_count
"""
_SEALED = f"""
WITH {_FILES}
SELECT id, sha256, size FROM files
WHERE built_at IS NOT NULL AND (built_at > %(since)s OR status IN ('built', 'held', 'released'))
ORDER BY built_at DESC LIMIT %(most)s
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check that files add up, that their bytes are what was built, that people who answered one
    were two, that each entry is where its file is, and that nothing that happened to it stays
    untold."""
    yield from audits.found("ach_file_sums", _FILE_SUMS, scope.values)
    for code, column, words in _BATCH_RULES:
        statement = _BATCH_FINDINGS.format(batches=_BATCHES, column=column, words=words)
        yield from audits.found(code, statement, scope.values)
    yield from audits.found("ach_file_spoken", _SPOKEN, scope.values)
    yield from audits.found("ach_file_never_sent", _NEVER_SENT, scope.values)
    yield from audits.found("ach_entry_never_final", _NEVER_FINAL, scope.values)
    if scope.full:
        yield from audits.found("ach_file_pieces", _PIECES, scope.values)
    yield from _changed_bytes(scope)


def _changed_bytes(scope: Scope) -> Iterator[Finding]:
    values = {**scope.values, "most": _BYTES_TOGETHER}
    for file_id, sha256, size in audits.rows(_SEALED, values):
        if problem := _problem(file_id, sha256, size):
            yield Finding(code="ach_file_bytes", tenant_id="", subject=file_id, message=problem)


def _problem(file_id: str, sha256: str, size: int) -> str:
    reading = sealing.Reading(sealing.opened(file_id))
    try:
        while reading.read(sealing.CHUNK_BYTES):
            pass
    except crypto.Undecryptable:
        return "a piece of it does not open"
    if (reading.sha256, reading.size) != (sha256, size):
        return "its bytes are not what was built"
    return ""
