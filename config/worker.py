"""The Celery worker we run: one that ends when it cannot go on."""

from __future__ import annotations

import os

from celery.apps.worker import Worker
from celery.platforms import EX_FAILURE


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
