"""How much may be brought in and paid out. Each app registers its limits, joined here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tenants.actors import Actor

Part = Callable[[str, str, Actor, datetime], dict[str, Any]]

_parts: list[Part] = []


def register(part: Part) -> None:
    """Add an app's limits: what `part` says of a tenant of a mode, and of who asks, at a moment,
    by the API's own names."""
    _parts.append(part)


def of(*, tenant_id: str, mode: str, actor: Actor, now: datetime) -> dict[str, Any]:
    """Everything that limits the tenant's transfers now, and what counts of this actor's own."""
    answer: dict[str, Any] = {}
    for part in _parts:
        answer |= part(tenant_id, mode, actor, now)
    return answer
