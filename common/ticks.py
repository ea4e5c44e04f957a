"""When each task last ran, for the desk. It is in the cache: if that is lost, a line of a page is
missing for a while."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.core.cache import cache

from common.clock import parse, text_of

_KEPT_FOR_SECONDS = 86_400


@dataclass(frozen=True, kw_only=True)
class Tick:
    """One run of a task: when it ended, how long it took, and how."""

    at: datetime
    seconds: float
    ok: bool


def note(*, task: str, at: datetime, seconds: float, ok: bool) -> None:
    """Remember the newest run of `task`."""
    cache.set(_key(task), [text_of(at), round(seconds, 3), ok], _KEPT_FOR_SECONDS)


def last(tasks: Iterable[str]) -> dict[str, Tick]:
    """The newest run of each task that ran within a day."""
    names = {_key(task): task for task in tasks}
    found = cache.get_many(names)
    return {
        names[key]: Tick(at=parse(at), seconds=seconds, ok=ok)
        for key, (at, seconds, ok) in found.items()
    }


def _key(task: str) -> str:
    return f"tick:{task}"
