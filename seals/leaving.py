"""The audit log on its way out of the database: one JSON object per line, in the order of ids.

A line that is not committed yet must not be passed over by whoever goes on after the last line they
have. Its id will be higher than the moment up to which everything is visible (`seals.windows`), so
lines younger than that, five minutes or more, wait.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from common import ids
from common.clock import text_of
from seals import windows
from tenants import selectors
from tenants.models import ActorType, AuditEvent

PAGE = 500


class Waiting(Exception):
    """Nobody can say which lines are complete: a transaction of another role is running."""


def pages(*, after: str = "", now: datetime) -> Iterator[list[AuditEvent]]:
    """The lines that follow the one with the id `after`, up to 500 at a time. Raises Waiting."""
    upto = windows.bound(now)
    if upto is None:
        raise Waiting("a transaction of another database role is running; try again")
    ready = AuditEvent.objects.filter(pk__lt=ids.lowest("aud", upto)).order_by("pk")
    while page := list(ready.filter(pk__gt=after)[:PAGE]):
        yield page
        after = page[-1].pk


def lines(page: Sequence[AuditEvent]) -> list[str]:
    """Each as JSON, in ASCII. Two more queries name people and keys: also those who left."""
    known = {row.actor_id for row in page} | {row.subject_id for row in page}
    names = selectors.people_and_keys(known)
    return [_line(row, names) for row in page]


def _line(row: AuditEvent, names: dict[str, str]) -> str:
    actor = "Ballast" if row.actor_type == ActorType.SYSTEM else row.actor_id
    values = {
        "id": row.pk,
        "at": text_of(row.created_at),
        "tenantId": row.tenant_id,
        "actorType": row.actor_type,
        "actorId": row.actor_id,
        "actor": names.get(row.actor_id, actor),
        "action": row.action,
        "subjectId": row.subject_id,
        "subject": names.get(row.subject_id, row.subject_id),
        "details": row.details,
        "staffNote": row.staff_note,
        "address": row.address,
        "requestId": row.request_id,
    }
    return json.dumps(values, separators=(",", ":"))
