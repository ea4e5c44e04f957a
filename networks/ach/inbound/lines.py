"""Looking into a bank's folders, one worker at a time for each rail; and what is in the way.

An error never ends that: to look again costs nothing, and returns have deadlines. What does not
pass by itself is asked for less and less often, up to once an hour, and a person is told
(`RailLine.trouble`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta

import structlog
from django.db.models import QuerySet

from common import database_clock, leases
from common.database.job_doors import by
from common.database.jobs import WORKER
from networks.ach import long_work, rails
from networks.ach.inbound import fetching
from networks.ach.inbound.fetching import Fetched, Transport
from networks.ach.long_work import LeaseLost, LongWork
from networks.ach.models import RailLine
from networks.ach.models.rails import RailPart
from networks.ach.sftp.errors import NotConnected, SftpError

log = structlog.get_logger(__name__)

EVERY = timedelta(seconds=20)  # shorter than between two ticks of the sweep
LATER, AT_LAST = timedelta(minutes=10), timedelta(hours=1)
Open = Callable[[str, Callable[[], None]], AbstractContextManager[Transport]]


@by(WORKER)
@database_clock.judged
def fetch_next(rail: str, open_bank: Open, *, now: datetime) -> Fetched | None:
    """Store what the bank has for us, if it is time to look and nobody else does; None if not, or
    if the bank could not be reached. `open_bank` signs in (networks.ach.connecting)."""
    RailLine.objects.get_or_create(pk=rail, defaults={"next_attempt_at": now})
    for line in leases.claim(_of(rail), now=now, limit=1, lease=long_work.LEASE):
        if rails.is_stopped(rail, RailPart.READING):
            leases.finish(line, next_attempt_at=now + EVERY)
            return None
        return _fetch(line, open_bank, now)
    return None


def try_again(rail: str, *, now: datetime) -> bool:
    """Look at once, because what was in the way was mended. False if nothing was."""
    return bool(_of(rail).exclude(trouble="").update(next_attempt_at=now, attempts=0))


def in_trouble() -> QuerySet[RailLine]:
    return RailLine.objects.exclude(trouble="").order_by("trouble_since", "pk")


def _of(rail: str) -> QuerySet[RailLine]:
    return RailLine.objects.filter(pk=rail)


def _fetch(line: RailLine, open_bank: Open, now: datetime) -> Fetched | None:
    terms = rails.current(line.pk).parsed.connection
    work = LongWork(line, now=now, lease=long_work.lease_of(terms.idle_timeout))
    try:
        work.go_on()
        with open_bank(line.pk, work.watch) as bank:
            found = fetching.fetch(bank, rail_id=line.pk, folders=terms.folders, now=now)
    except LeaseLost:
        log.info("ach_line_not_ours", rail=line.pk)
    except NotConnected:
        leases.finish(line, next_attempt_at=work.now + EVERY)
    except SftpError as error:
        log.error("ach_bank_not_reached", rail=line.pk, code=error.code)
        _note(line, error.code, _pause(error, line.attempts), work.now)
    else:
        lasting = [each.code for each in found.failed if not each.is_passing]
        fetched_at = line.fetched_at if found.failed else now
        trouble = lasting[0] if lasting else ""
        _note(line, trouble, EVERY, work.now, fetched_at=fetched_at, attempts=0)
        return found
    return None


def _pause(error: SftpError, attempts: int) -> timedelta:
    """Twice as long each time."""
    most = LATER if error.is_passing else AT_LAST
    times: int = 2 ** min(attempts, 10)
    return min(most, EVERY * times)


def _note(line: RailLine, trouble: str, pause: timedelta, now: datetime, **changes: object) -> None:
    since = (line.trouble_since or now) if trouble else None
    leases.finish(
        line, next_attempt_at=now + pause, trouble=trouble, trouble_since=since, **changes
    )
