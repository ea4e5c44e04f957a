"""Many threads at one moment, each with a database connection of its own; and rounds of that."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection


def together(act: Callable[[int], Any], *, workers: int) -> list[Any]:
    """What `act(worker)` returned or raised in each worker, none of which starts before all do."""
    start = Barrier(workers)

    def run(worker: int) -> Any:
        try:
            connection.ensure_connection()
            start.wait()
            return act(worker)
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(run, range(workers)))


def rounds(count: int, *, quick: int = 1) -> pytest.MarkDecorator:
    """Run the race `count` times, the first `quick` rounds among the quick tests."""
    slow = [pytest.param(number, marks=pytest.mark.slow) for number in range(quick, count)]
    return pytest.mark.parametrize("round_", [*range(quick), *slow])
