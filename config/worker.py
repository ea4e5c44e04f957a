"""The Celery worker we run. It ends when it cannot go on."""

from __future__ import annotations

import os
from typing import Any

from celery import Task
from celery.apps.worker import Worker
from celery.platforms import EX_FAILURE

from common import drift
from common.database import job_doors, jobs


class ClockedTask(Task):  # type: ignore[type-arg]  # generic in its stubs only
    """Does nothing while this process's clock is wrong: its rows stay due, and a sweep follows.

    Its statements run under the login of workers, whoever calls it (decision 0190).
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if drift.guard.is_adrift():
            return None
        with job_doors.of(jobs.WORKER):
            return super().__call__(*args, **kwargs)


class CrashOnlyWorker(Worker):
    """Ends at once on an error from which it cannot recover, so that its supervisor starts another.

    A worker that loses its broker while it holds messages can fail to hand them back over the lost
    connection (kombu issue 582). Its orderly stop then waits forever for a pool that is gone, too:
    the worker is alive and does nothing. Ending here loses nothing: messages only wake workers up,
    and leases give back the rows.
    """

    def stop(self, in_sighandler: bool = False, exitcode: int | None = None) -> None:
        if exitcode == EX_FAILURE:
            os._exit(EX_FAILURE)
        super().stop(in_sighandler=in_sighandler, exitcode=exitcode)
