"""The Celery worker we run: one that ends when it cannot go on."""

from __future__ import annotations

import os
from typing import Any

from celery import Task
from celery.apps.worker import Worker
from celery.platforms import EX_FAILURE

from common import drift


class ClockedTask(Task):  # type: ignore[type-arg]  # generic in its stubs only
    """Does nothing while this process's clock is wrong: its rows stay due, and a sweep follows."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if drift.guard.is_adrift():
            return None
        return super().__call__(*args, **kwargs)


class CrashOnlyWorker(Worker):
    """Ends at once on an error it cannot recover from, so that its supervisor starts another.

    A worker that loses its broker while it holds messages can fail on handing them back over the
    connection that is gone (kombu issue 582), and its orderly stop then waits for ever on a pool
    that is gone as well: alive, and doing nothing. Nothing is lost by ending here. Messages only
    wake work up, and leases give back the rows.
    """

    def stop(self, in_sighandler: bool = False, exitcode: int | None = None) -> None:
        if exitcode == EX_FAILURE:
            os._exit(EX_FAILURE)
        super().stop(in_sighandler=in_sighandler, exitcode=exitcode)
