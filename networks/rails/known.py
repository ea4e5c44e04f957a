"""Which rails there are and where routes lead, as this process knows it: at most
ROUTES_KNOWN_SECONDS old, so that a page asks for neither.

It decides what is offered, and which network a new transfer is for. Whether a transfer may leave is
asked of the rows themselves, by the statement that claims it (`transfers.routes`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from common.engine import sql

_READ = """
SELECT rail.name, rail.driver, route.mode, route.method
FROM rails_rail AS rail
LEFT JOIN rails_route AS route ON route.rail_id = rail.name AND route.is_open
    AND (NOT route.development OR %(development)s::boolean)
ORDER BY rail.created_at, rail.name, route.id
"""


@dataclass(frozen=True)
class Known:
    """`drivers` by the names of their rails; `routes`: the name of the rail by mode and method."""

    drivers: Mapping[str, str]
    routes: Mapping[tuple[str, str], str]
    read_at: float = field(default_factory=time.monotonic)

    @property
    def is_old(self) -> bool:
        limit = settings.ROUTES_KNOWN_SECONDS
        return limit is not None and time.monotonic() - self.read_at > limit


class Knowledge:
    """What one process knows. Its threads share it; two that find it too old both read it, so that
    none waits for a statement of another."""

    def __init__(self) -> None:
        self._known: Known | None = None

    def current(self) -> Known:
        """What is known, read again if it is too old."""
        found = self._known
        if found is None or found.is_old:
            found = self._known = _read()
        return found

    def forget(self) -> None:
        """Ask again at the next question."""
        self._known = None

    def note_change(self, **_signal: object) -> None:
        """A row was saved here: its transaction sees that at once, and all others of this process
        as soon as it has ended."""
        self.forget()
        transaction.on_commit(self.forget)


def _read() -> Known:
    rows = sql.rows(_READ, {"development": settings.DEVELOPMENT_ROUTES})
    return Known(
        drivers={name: driver for name, driver, _, _ in rows},
        routes={(mode, method): name for name, _, mode, method in rows if mode is not None},
    )


knowledge = Knowledge()
