"""The position of a rail is what the network said of its conversations, and what people moved."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import Finding, Scope
from networks.instant.models.position_triggers import MOVED

# By the index of what is ordered, so that each check looks.
_RESERVED = """
SELECT '', position.rail_id, 'reserves ' || position.reserved
    || ' cents, and what is ordered and has no end comes to ' || ordered.cents
FROM instant_position AS position
CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0)::bigint AS cents FROM instant_conversation AS conversation
    WHERE conversation.rail_id = position.rail_id AND status = 'sent'
        AND kind IN ('payment', 'give_back')
) AS ordered
WHERE position.reserved <> ordered.cents
UNION ALL
SELECT '', rail.name, 'has no position' FROM instant_instantrail AS rail
WHERE NOT EXISTS (SELECT FROM instant_position WHERE rail_id = rail.name)
"""
_BALANCE = f"""
SELECT '', position.rail_id, 'has ' || position.balance
    || ' cents, and what the network said and people moved comes to ' || said.cents + moved.cents
FROM instant_position AS position
CROSS JOIN LATERAL (
    SELECT coalesce(sum({MOVED.format(row="conversation")}), 0)::bigint AS cents
    FROM instant_conversation AS conversation WHERE conversation.rail_id = position.rail_id
) AS said
CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount), 0)::bigint AS cents FROM instant_positionmove AS move
    WHERE move.rail_id = position.rail_id AND move.status = 'approved'
) AS moved
WHERE position.balance <> said.cents + moved.cents
"""  # noqa: S608  # our own text


def check(scope: Scope) -> Iterator[Finding]:
    """Check what is reserved, and in a full check of all tenants the balance, which reads every
    conversation. Each rule is one statement, so it sees one moment."""
    if scope.tenant_ids is not None:
        return
    yield from audits.found("instant_position_reserved", _RESERVED, {})
    if scope.full:
        yield from audits.found("instant_position", _BALANCE, {})
