"""The jobs of the product that have a login of their own (decision 0180): `job_rights` says what
each may do.

A job whose address is not set works as DATABASE_URL, which may do all that the product does. This
module is read before there are settings.
"""

from __future__ import annotations

from typing import Final

DISPATCHER: Final = "dispatcher"
AUDIT: Final = "audit"
WORKER: Final = "worker"
DESK: Final = "desk"

ALL: Final = (DISPATCHER, AUDIT, WORKER, DESK)
# A worker checks the books and delivers webhooks under these logins, because its own may not.
TAKEN_BY_WORKERS: Final = (DISPATCHER, AUDIT)


def variable(job: str) -> str:
    """The setting that names the login of this job."""
    return f"DATABASE_{job.upper()}_URL"
