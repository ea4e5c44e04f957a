"""PostgreSQL for an event loop: one thread, one connection, one statement at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import connections

from common.database import job_doors

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseThread:
    """Runs synchronous database work in a thread beside the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="webhooks-db")

    def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """Run `work` after what was passed before it. Returns a future of its result, or of what it
        raises."""
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, lambda: work(*args, **kwargs))

    async def forget_connection(self) -> None:
        """Close the connection; the next statement opens a new one."""
        await self.run(_close)

    async def close(self) -> None:
        await self.forget_connection()
        self._thread.shutdown()


def _close() -> None:
    connections.close_all()
    job_doors.close()
