"""The seal's part of `check_ledger`.

The usual check proves the newest rounds, the rounds in which the last check found something, and a
slice of all the others, so that each round is proven once a day. The database's clock says which
slice: there is no note of it that somebody could change. The full check proves every round.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from balance import figures
from common.audits import Finding, Scope
from common.clock import utc_now
from common.database_clock import capped
from seals import published
from seals.verification import Proof, last_number, strays

NEWEST = 8
FINDINGS_MAX = 100
# Checks come every 15 minutes. After a pause a check does more, but not a day's work at once.
SLICE_MIN, SLICE_MAX = timedelta(minutes=15), timedelta(hours=1)
_DAY = timedelta(days=1)


def check(scope: Scope) -> Iterator[Finding]:
    """Find what is wrong with the seals in scope, the first hundred findings."""
    now = capped(utc_now())
    last = last_number()
    numbers = sorted(_wanted(scope, last, now))
    proof = Proof(numbers=numbers, now=now, tenant_ids=scope.tenant_ids)
    yield from islice(proof.findings(), FINDINGS_MAX)
    if scope.tenant_ids is None:
        yield from islice(strays(), FINDINGS_MAX)
        yield from islice(published.check_own_file(), FINDINGS_MAX)


def _wanted(scope: Scope, last: int, now: datetime) -> set[int]:
    every = range(1, last + 1)
    if scope.full:
        return set(every)
    return {*every[-NEWEST:], *_slice(last, now), *(_broken() & set(every))}


def _slice(last: int, now: datetime) -> set[int]:
    """The rounds to prove since the last check. Every round has its minute of the day."""
    if not last:
        return set()
    verdict = figures.last_verdict()
    passed = now - verdict.started_at if verdict else SLICE_MAX
    since = now - min(max(passed, SLICE_MIN), SLICE_MAX)
    start, end = (_place(moment, last) for moment in (since, now))
    if start <= end:
        return set(range(start, end + 1))
    return {*range(start, last + 1), *range(1, end + 1)}


def _place(moment: datetime, last: int) -> int:
    """The round whose turn it is now: round 1 at midnight UTC, the last one before the next
    midnight."""
    midnight = datetime.combine(moment.astimezone(UTC).date(), datetime.min.time(), tzinfo=UTC)
    return min(last, 1 + int(last * ((moment - midnight) / _DAY)))


def _broken() -> set[int]:
    """The rounds in which the last check found something. They are proven again until they are
    sound."""
    subjects = figures.last_subjects(prefix="seal_")
    numbers = (subject.removeprefix("round ") for subject in subjects)
    return {int(number) for number in numbers if number.isdecimal()}
