"""All that can be due in a sandbox: each app registers its sweeps, and how to tell what
they moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

_ROUNDS_MAX = 20


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One change of status; `from_status` is empty for something new."""

    id: str
    from_status: str
    to_status: str
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Part:
    """One app's share. `run` runs its due work and returns how much that was. `watch` is called
    with the tenant and the time before the first run; it returns a function that gives the tenant's
    transitions since then."""

    run: Callable[[datetime], int]
    watch: Callable[[str, datetime], Callable[[], Iterable[Transition]]]


def transitions(history: QuerySet[Any], *, of: str, since: datetime) -> Iterator[Transition]:
    """What a history of statuses says of the time since then; `of` is its column of the subject."""
    for row in history.filter(created_at__gte=since).order_by("created_at", "sequence"):
        yield Transition(
            id=getattr(row, of),
            from_status=row.from_status,
            to_status=row.to_status,
            at=row.created_at,
        )


_parts: list[Part] = []


def register(part: Part) -> None:
    """Add an app's share to what `run_all` runs."""
    if part not in _parts:
        _parts.append(part)


def run_all(*, tenant_id: str, now: datetime) -> list[Transition]:
    """Run what is due until nothing is left; returns the tenant's transitions, oldest first."""
    moves_since = [part.watch(tenant_id, now) for part in _parts]
    for _ in range(_ROUNDS_MAX):
        if not sum(part.run(now) for part in _parts):
            break
    made = [step for moves in moves_since for step in moves()]
    return sorted(made, key=lambda step: (step.at, step.id))
