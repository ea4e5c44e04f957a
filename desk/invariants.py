"""What stands in force of banks and routes is what the audit log says that people decided: the
desk's part of the audit (decision 0160).

The rows of networks know no audit log, and seals cover only what never changes. So a status, the
rail of a route or the key in use could be changed in the database by one hand. The lines of the
audit log are sealed.
"""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import Finding, Scope

# Each gives, of every step that a row claims: its id, what it is in words, the subject and the
# actions that its line may have, who did it, when, and details that the line says too.
_VERSIONS = """
SELECT id, 'terms ' || number || ' of ' || rail_id || ' were proposed' AS words,
    rail_id AS subject, ARRAY['rail.proposed'] AS actions, proposed_by AS doer, proposed_at AS at,
    jsonb_build_object('number', number) AS details
FROM {versions} WHERE NOT by_command
UNION ALL
SELECT id, 'terms ' || number || ' of ' || rail_id || ' were ' || decision.word, rail_id,
    ARRAY['rail.' || decision.word], decided_by, decided_at, jsonb_build_object('number', number)
FROM {versions} CROSS JOIN LATERAL (
    SELECT CASE WHEN status IN ('rejected', 'withdrawn') THEN status
        WHEN by_command THEN 'changed' ELSE 'approved' END AS word) AS decision
WHERE status <> 'proposed'
"""
_SWITCHES = """
SELECT id, part || ' of ' || rail_id || ' was stopped' AS words, rail_id AS subject,
    ARRAY['rail.stopped'] AS actions, engaged_by AS doer, engaged_at AS at,
    jsonb_build_object('part', part) AS details
FROM ach_railswitch
UNION ALL
SELECT id, part || ' of ' || rail_id || ' was let go on', rail_id, ARRAY['rail.went_on'],
    released_by, released_at, jsonb_build_object('part', part)
FROM ach_railswitch WHERE released_at IS NOT NULL
"""
# A key that takes the place of others is named by the line about all of them; a certificate that an
# operator signed takes the place of ours.
_KEYS = """
SELECT id, 'a key of ' || rail_id || ' was made' AS words, rail_id AS subject,
    ARRAY['rail.key_made', 'rail.key_replaced', 'rail.key_certified'] AS actions,
    created_by AS doer, created_at AS at, jsonb_build_object('fingerprint', fingerprint) AS details
FROM {keys}
UNION ALL
SELECT id, 'a key of ' || rail_id || ' was retired', rail_id,
    ARRAY['rail.key_retired', 'rail.key_replaced', 'rail.key_certified'], retired_by, retired_at,
    '{{}}'
FROM {keys} WHERE retired_at IS NOT NULL
"""
_RELEASES = """
SELECT id, 'was let go by ' || step.doer AS words, id AS subject,
    ARRAY['ach_file.' || step.word] AS actions, step.doer, step.at, '{}'::jsonb AS details
FROM ach_outfile CROSS JOIN LATERAL (VALUES
    ('released_first', first_released_by, first_released_at),
    ('released', released_by, released_at)) AS step (word, doer, at)
WHERE released_how = 'people' AND (%(full)s OR released_at > %(since)s)
"""
_ANSWERS = """
SELECT answer.id, 'the answer of a bank to ' || file_id || ' was ' || step.word AS words,
    file_id AS subject, ARRAY['ach_file.answer_' || step.word] AS actions, step.doer, step.at,
    jsonb_build_object('answerId', answer.id, 'verdict', verdict, 'code', code) AS details
FROM ach_spokenanswer AS answer CROSS JOIN LATERAL (VALUES
    ('proposed', proposed_by, proposed_at), (status, decided_by, decided_at)
) AS step (word, doer, at)
WHERE status IN ('confirmed', 'rejected') AND (%(full)s OR decided_at > %(since)s)
"""
_REVERSALS = """
SELECT reversal.id, 'a reversal of entry ' || entry_id || ' was ' || step.word AS words,
    reversal.id AS subject, ARRAY['ach_reversal.' || step.word] AS actions, step.doer, step.at,
    jsonb_build_object('why', reason) AS details
FROM ach_achreversal AS reversal CROSS JOIN LATERAL (VALUES
    ('proposed', proposed_by, proposed_at),
    (CASE status WHEN 'rejected' THEN 'rejected' ELSE 'approved' END, decided_by, decided_at)
) AS step (word, doer, at)
WHERE status <> 'proposed' AND (%(full)s OR decided_at > %(since)s)
"""
_MOVES = """
SELECT move.id, 'a move of ' || rail_id || ' was ' || step.word AS words, move.id AS subject,
    ARRAY['position_move.' || step.word] AS actions, step.doer, step.at,
    jsonb_build_object('rail', rail_id, 'amount', amount, 'bank', bank) AS details
FROM instant_positionmove AS move CROSS JOIN LATERAL (VALUES
    (CASE WHEN NOT by_command THEN 'proposed' END, proposed_by, proposed_at),
    (CASE WHEN by_command THEN 'moved' WHEN status <> 'proposed' THEN status END, decided_by,
        decided_at)
) AS step (word, doer, at)
WHERE step.word IS NOT NULL
"""
_PARTICIPANTS = """
SELECT id, 'the list of banks of ' || profile || ' was imported' AS words, id AS subject,
    ARRAY['participants.imported'] AS actions, imported_by AS doer, imported_at AS at,
    jsonb_build_object('profile', profile, 'digest', digest) AS details
FROM instant_participantlist
"""
_RETURNS = """
SELECT ask.id, 'the answer to a request for a return of funds was ' || step.word AS words,
    ask.id AS subject, ARRAY['return_ask.' || step.word] AS actions, step.doer, step.at,
    jsonb_build_object('givesBack', gives_back) AS details
FROM instant_returnask AS ask CROSS JOIN LATERAL (VALUES
    ('proposed', proposed_by, proposed_at), ('approved', decided_by, decided_at)
) AS step (word, doer, at)
WHERE status IN ('refused', 'given_back') AND (%(full)s OR decided_at > %(since)s)
"""
_CLAIMS = {
    "ach_version_unwitnessed": _VERSIONS.format(versions="ach_railversion"),
    "instant_version_unwitnessed": _VERSIONS.format(versions="instant_instantversion"),
    "ach_switch_unwitnessed": _SWITCHES,
    "ach_key_unwitnessed": _KEYS.format(keys="ach_achkey"),
    "instant_key_unwitnessed": _KEYS.format(keys="instant_instantkey"),
    "ach_release_unwitnessed": _RELEASES,
    "ach_answer_unwitnessed": _ANSWERS,
    "ach_reversal_unwitnessed": _REVERSALS,
    "position_move_unwitnessed": _MOVES,
    "participants_unwitnessed": _PARTICIPANTS,
    "return_ask_unwitnessed": _RETURNS,
}
_UNWITNESSED = """
SELECT '', claim.id, claim.words || ' by ' || claim.doer || ', which the audit log does not say'
FROM ({claims}) AS claim
WHERE NOT EXISTS (
    SELECT FROM tenants_auditevent AS line
    WHERE line.subject_id = claim.subject COLLATE "default" AND line.tenant_id IS NULL
        AND line.action = ANY(claim.actions) AND line.created_at = claim.at
        AND line.details @> claim.details
        AND CASE line.actor_type WHEN 'system' THEN line.details ->> 'operator' = claim.doer
            ELSE line.actor_id = claim.doer END)
"""

# The key in use is the one that was last switched to, or that took the place of all others; before
# that the first one that was made.
_KEY_IN_USE = """
SELECT '', rail.name, 'signs in with ' || coalesce(key.fingerprint, 'no key')
    || '; by the audit log it is ' || coalesce(said.fingerprint, 'no key')
FROM {rails} AS rail
LEFT JOIN LATERAL (
    SELECT fingerprint FROM {keys}
    WHERE rail_id = rail.name AND retired_at IS NULL AND used_since IS NOT NULL
    ORDER BY used_since DESC, slot LIMIT 1
) AS key ON true
LEFT JOIN LATERAL (
    SELECT line.details ->> 'fingerprint' AS fingerprint
    FROM tenants_auditevent AS line
    WHERE line.subject_id = rail.name AND line.tenant_id IS NULL
        AND line.action IN ('rail.key_made', 'rail.key_switched', 'rail.key_replaced')
    ORDER BY line.action = 'rail.key_made',
        CASE WHEN line.action <> 'rail.key_made' THEN line.created_at END DESC, line.created_at
    LIMIT 1
) AS said ON true
WHERE said.fingerprint IS DISTINCT FROM key.fingerprint
"""
# An instant rail has a row there for its statements alone.
_BANKS = "(SELECT name FROM ach_achrail EXCEPT SELECT name FROM instant_instantrail)"
_KEYS_IN_USE = {
    "ach_key_in_use": _KEY_IN_USE.format(rails=_BANKS, keys="ach_achkey"),
    "instant_key_in_use": _KEY_IN_USE.format(
        rails="instant_instantrail", keys="instant_instantkey"
    ),
}

# A route leads where its last line says. Those that `migrate` made have none: they lead sandbox
# tenants to the sandbox bank, and instant payments to a rail of its own there.
_ROUTES = """
SELECT '', route.id, route.method || ' of ' || route.mode || ' tenants '
    || CASE WHEN route.is_open THEN 'leads to ' || route.rail_id ELSE 'is closed' END
    || ', which the audit log does not say'
FROM rails_route AS route
CROSS JOIN LATERAL (
    SELECT count(*) AS lines, max(line.created_at) AS last_at,
        count(*) FILTER (WHERE line.created_at = route.changed_at
            AND line.action = CASE WHEN route.is_open THEN 'route.opened' ELSE 'route.closed' END
            AND line.details @> jsonb_build_object('mode', route.mode, 'method', route.method,
                'rail', route.rail_id, 'development', route.development)) AS same
    FROM tenants_auditevent AS line
    WHERE line.subject_id = route.id COLLATE "default" AND line.tenant_id IS NULL
        AND line.action IN ('route.opened', 'route.closed')
) AS said
WHERE CASE said.lines
    WHEN 0 THEN (route.mode, route.rail_id, route.is_open, route.development)
        IS DISTINCT FROM ('sandbox', CASE route.method WHEN 'rtp_credit' THEN 'sandbox_rtp'
            ELSE 'sandbox' END, true, false)
    ELSE said.same = 0 OR said.last_at <> route.changed_at END
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Find what is in force of banks and routes, and what was let go, that the audit log does not
    bear out."""
    for code, claims in _CLAIMS.items():
        yield from audits.found(code, _UNWITNESSED.format(claims=claims), scope.values)
    for code, in_use in _KEYS_IN_USE.items():
        yield from audits.found(code, in_use, scope.values)
    yield from audits.found("route_unwitnessed", _ROUTES, scope.values)
