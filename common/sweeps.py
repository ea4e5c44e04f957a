"""A sweep goes through rows one by one, and goes on with the next one if one fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)

Item = TypeVar("Item")


def each(items: Iterable[Item], act: Callable[[Item], int], *, failure: str) -> int:
    """Run `act` on every item; returns the sum of its results.

    An item that fails is logged as `failure` and left to the next sweep. `act` has a transaction of
    its own.
    """
    done = 0
    for item in items:
        try:
            done += act(item)
        except Exception:
            log.exception(failure, subject=str(item))
    return done
