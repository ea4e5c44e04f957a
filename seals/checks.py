"""The seal's part of `check_ledger`.

The usual check proves the newest rounds, those of the last check's findings, and a slice of all
the others, so that each round is proven once a day. Which slice is a matter of the database's
clock: there is no note of it that somebody could change. The full check proves every round.
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
    """What is wrong with the seals in scope, the first hundred of it."""
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
    """The rounds whose turn came since the last check: the day is shared among all of them."""
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
    """Whose turn it is: round 1 at midnight UTC, the last one before the next."""
    midnight = datetime.combine(moment.astimezone(UTC).date(), datetime.min.time(), tzinfo=UTC)
    return min(last, 1 + int(last * ((moment - midnight) / _DAY)))


def _broken() -> set[int]:
    """What was broken stays a finding until it is not."""
    subjects = figures.last_subjects(prefix="seal_")
    numbers = (subject.removeprefix("round ") for subject in subjects)
    return {int(number) for number in numbers if number.isdecimal()}
