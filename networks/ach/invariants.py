"""What must hold between what banks said, the entries it is about, and what was told of them: this
app's part of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import NEVER, Finding, Scope

_RECENT = "file.received_at >= CASE WHEN %(full)s THEN '-infinity' ELSE %(since)s::timestamptz END"
_MINE = "(%(tenant_ids)s::text[] IS NULL OR entry.tenant_id = ANY(%(tenant_ids)s))"

# A return that was applied sent its entry back, which was told once, in full, and nothing later. An
# entry that an acknowledgment had rejected stays rejected.
_RETURNS = f"""
SELECT entry.tenant_id, entry.instruction_id,
    'record ' || record.id || ' sent it back: it is ' || entry.status || ' and told '
    || told.times || ' times'
FROM ach_infile AS file
JOIN ach_inrecord AS record ON record.file_id = file.id
JOIN ach_achentry AS entry ON entry.id = record.entry_id
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE kind = 'returned') AS times,
        coalesce(bool_and(amount = entry.amount) FILTER (WHERE kind = 'returned'), true) AS in_full,
        count(*) FILTER (WHERE kind IN ('settled', 'final') AND NOT acknowledged) AS still
    FROM ach_achevent AS event WHERE event.entry_id = entry.id AND event.voided_at IS NULL
) AS told
WHERE {_RECENT} AND {_MINE}
    AND record.status = 'applied' AND record.kind IN ('return', 'corrected')
    AND CASE entry.status
        WHEN 'returned' THEN told.times <> 1 OR NOT told.in_full OR told.still > 0
        WHEN 'rejected' THEN told.times > 0
        ELSE true END
"""  # noqa: S608  # our own text
# The other way round, which reads every entry: once a day.
_WITHOUT_REASON = f"""
SELECT entry.tenant_id, entry.instruction_id, 'came back, and no bank and no reversal says so'
FROM ach_achentry AS entry
WHERE %(full)s AND {_MINE} AND entry.status = 'returned'
    AND NOT EXISTS (
        SELECT FROM ach_inrecord AS record WHERE record.entry_id = entry.id
            AND record.status = 'applied' AND record.kind IN ('return', 'corrected'))
    AND NOT EXISTS (
        SELECT FROM ach_achreversal AS reversal
        WHERE reversal.entry_id = entry.id AND reversal.status = 'done')
"""  # noqa: S608  # our own text
# Whatever is not a person's matter is due.
_NEVER_READ = f"""
SELECT '', file.id, 'a file from a bank that is ' || file.status || ' and that nobody reads'
FROM ach_infile AS file
WHERE {_RECENT} AND file.next_attempt_at IS NULL
    AND (file.status = 'parsed' OR file.status = 'stored' AND file.folder <> 'statements')
UNION ALL
SELECT '', file.id, 'a file that was applied has a record that was not: line ' || record.line
FROM ach_infile AS file JOIN ach_inrecord AS record ON record.file_id = file.id
WHERE {_RECENT} AND file.status = 'applied' AND record.status = 'new'
"""  # noqa: S608  # our own text
# Terms end at the moment at which the next ones are put in force. The newest are those in force,
# and name our own account exactly if files are balanced.
_VERSIONS = """
SELECT '', version.id, 'terms of ' || version.rail_id || ' do not follow those before them'
FROM ach_railversion AS version CROSS JOIN LATERAL (
    SELECT superseded_at FROM ach_railversion AS before
    WHERE before.rail_id = version.rail_id AND before.number < version.number
        AND before.status IN ('current', 'superseded')
    ORDER BY before.number DESC LIMIT 1
) AS before
WHERE version.status IN ('current', 'superseded')
    AND before.superseded_at IS DISTINCT FROM version.decided_at
UNION ALL
SELECT '', id, 'terms of ' || rail_id || ' are ' || status || ', and their place or their account'
    || ' says otherwise'
FROM (
    SELECT *, number = max(number) OVER (PARTITION BY rail_id) AS is_newest
    FROM ach_railversion WHERE status IN ('current', 'superseded')
) AS version
WHERE (status = 'current') <> is_newest OR is_newest <> (superseded_at IS NULL)
    OR (coalesce(terms ->> 'offset', 'none') = 'balanced') <> (offset_account_token <> '')
"""
# A bank's folders are looked into for ever, whatever went wrong.
_NEVER_FETCHED = f"""
SELECT '', rail_id, 'is fetched from at ' || coalesce(
    greatest(next_attempt_at, leased_until)::text, 'no time')
FROM ach_railline
WHERE next_attempt_at IS NULL OR next_attempt_at > ballast_now() + {NEVER}
    OR leased_until > ballast_now() + {NEVER}
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check that each return counted once, that no file was forgotten and every bank is looked at,
    and that the terms in force follow those before them."""
    yield from audits.found("ach_return", _RETURNS, scope.values)
    yield from audits.found("ach_return", _WITHOUT_REASON, scope.values)
    yield from audits.found("ach_file_forgotten", _NEVER_READ, scope.values)
    yield from audits.found("ach_version", _VERSIONS, scope.values)
    yield from audits.found("ach_line_never_due", _NEVER_FETCHED, scope.values)
