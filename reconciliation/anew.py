"""Files of bank statements that were set aside for what may be over: they are read anew."""

from __future__ import annotations

from datetime import datetime

from networks.ach.models import InFile
from networks.ach.models.inbound import InFolder
from networks.ach.states import IN_FILE_STATES, InFileStatus


def read_anew(rail: str, code: str, *, now: datetime) -> None:
    """Have the rail's files read anew that lie in review with this fault.

    In a transaction that holds the row locks of the rail's accounts: whoever judges a file waits
    for them or has set it aside by then, so that none is overlooked.
    """
    rows = InFile.objects.filter(
        rail_id=rail,
        folder=InFolder.STATEMENTS,
        status=InFileStatus.REVIEW,
        faults__contains=[{"code": code}],
    )
    for file in rows.order_by("pk").select_for_update(no_key=True):
        IN_FILE_STATES.advance(file, InFileStatus.STORED, next_attempt_at=now)
