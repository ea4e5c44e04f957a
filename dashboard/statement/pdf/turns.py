"""One document at a time for each person, over all web processes.

Without it one person who asks several times at once would hold the turn of every process, and
nobody else would get a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache

from dashboard.statement.pdf.printing import PRINTING_SECONDS_MAX

_SECONDS_MAX = PRINTING_SECONDS_MAX + 10  # a process that was killed gives its turn back by then


class AtItAlready(Exception):
    """A document is being made for this person."""


@contextmanager
def turn_of(user_id: str) -> Iterator[None]:
    """Hold the person's turn. Raises AtItAlready and waits for nobody."""
    name = f"statement-pdf:{user_id}"
    if not cache.add(name, 1, timeout=_SECONDS_MAX):
        raise AtItAlready
    try:
        yield
    finally:
        cache.delete(name)
