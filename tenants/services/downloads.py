"""Files that people took with them: the audit log says who, which file and which days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from tenants.actors import Actor
from tenants.services import audit


def record(
    *,
    tenant_id: str,
    actor: Actor,
    file: str,
    since: date | None,
    until: date | None,
    narrowed_by: Sequence[str],
    now: datetime,
) -> None:
    """Write down that `actor` asked for `file`, and nothing of what is in it.

    `since` and `until` are Eastern days, both included; None is without that end. `narrowed_by`
    names the other fields that were filled in, not what was typed there.
    """
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action="file.downloaded",
        details={
            "file": file,
            "since": since.isoformat() if since else "",
            "until": until.isoformat() if until else "",
            "narrowedBy": list(narrowed_by),
        },
        now=now,
    )
