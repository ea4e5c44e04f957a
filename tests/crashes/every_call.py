"""Ends the connection at every database call of an operation, and compares what was told with what
is stored.

A story says how to bring a fresh tenant to the point where the operation begins. It is run
undisturbed first: what that tells and leaves, once and twice, is what a disturbed run is held
against. So nothing has to be said about an operation but how to ask for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib.messages import get_messages
from django.db import DatabaseError, connection

from common import ids
from tests.crashes import outside
from tests.crashes.bomb import Bomb, Moment
from tests.crashes.stored import Changes, Stored, masked, without_sessions
from tests.crashes.world import END_LEASES, Act, World

Headers = Mapping[str, str]
UNKNOWN = 503
BUSY = 409
CALLS_MAX = 400
# Than undisturbed: a few depend on what a process has read before.
MORE_CALLS = 4


class Told(NamedTuple):
    """What the caller learned: enough to tell one outcome from another."""

    status: int
    where: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Story:
    """One operation. `begin` prepares a fresh tenant and returns what to do.

    `in_steps`: it commits more than once, so that after a crash a part of it may be stored; the
    repeat, and the sweeps after it, must complete it. `may_wait`: a repeat may be told that the one
    before is not over yet. `is_work`: nobody is told anything, and the next tick does the rest.
    `sees_sessions`: what it keeps in a session, and whose sessions end, belongs to what is stored.
    `leaves`: a table where a crash may leave a row more, such as one that a sweep takes back; a
    repeat may say so. `leads_on`: a form that shows another page once it is taken, and itself with
    what is wrong where it is not. `finish`: what a story in steps leaves to the sweeps.
    """

    name: str
    begin: Callable[[World], Act]
    takes_key: bool = False
    in_steps: bool = False
    may_wait: bool = False
    is_work: bool = False
    sees_sessions: bool = False
    leaves: str = ""
    leads_on: bool = False
    finish: Callable[[Stored], None] = World.finish

    def __str__(self) -> str:
        return self.name


class Plain(NamedTuple):
    """What happens undisturbed: the first time, with how many calls of the database, and when the
    same is asked for again."""

    calls: int
    first: Told
    once: Changes
    second: Told
    twice: Changes


@dataclass
class Tally:
    """What was tried and found."""

    points: int = 0
    told: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.points + other.points, self.told + other.told, self.faults + other.faults)


class Explorer:
    """Tries the points of one story."""

    def __init__(self, story: Story, bomb: Bomb, stored: Stored) -> None:
        self._story = story
        self._bomb = bomb
        self._stored = stored

    def explore(self, *, is_keyed: bool, first: int = 1, every: int = 1) -> Tally:
        """Each `every`-th point of the operation from the `first` on. A call has two: before it,
        and with its answer lost."""
        plain = self._plain(is_keyed)
        tally = Tally()
        calls = range(1, min(plain.calls + MORE_CALLS, CALLS_MAX) + 1)
        points = [Point(at, moment, is_keyed) for at in calls for moment in Moment]
        for point in points[first - 1 :: every]:
            self._try(plain, point, tally)
            if not self._bomb.has_gone_off:
                break
            tally.points += 1
        tally.faults += self._lies()
        return tally

    def _plain(self, is_keyed: bool) -> Plain:
        """Raises AssertionError where two undisturbed runs leave different things."""
        act, headers = self._begin(), _headers(is_keyed)
        first, once = told(act(headers)), self._settled()
        is_taken = first.where if self._story.leads_on else first.status < 400
        assert is_taken, f"{self._story} is refused: {first}"
        second, twice = told(act(headers)), self._settled()
        act, headers = self._begin(), _headers(is_keyed)
        with self._bomb.armed(at=None):
            again = told(act(headers))
        anew = self._settled()
        assert again == first, f"two plain runs are told {first} and {again}"
        assert anew == once, f"of two plain runs {difference(once, anew)}"
        return Plain(self._bomb.calls, first, once, second, twice)

    def _begin(self) -> Act:
        connection.close()
        act = self._story.begin(World())
        self._stored.mark()
        return act

    def _settled(self) -> Changes:
        if self._story.in_steps:
            self._story.finish(self._stored)
        return self._changes()

    def _changes(self) -> Changes:
        changes = self._stored.changes()
        return changes if self._story.sees_sessions else without_sessions(changes)

    def _try(self, plain: Plain, point: Point, tally: Tally) -> None:
        act = self._begin()
        headers = _headers(point.is_keyed)
        with self._bomb.armed(at=point.at, moment=point.moment):
            answer = told(act(headers))
        connection.close()
        tally.told[str(answer.status)] += 1
        tally.faults += [f"{self._story} {point}: LIE: {lie}" for lie in self._lies()]
        if self._story.is_work:
            self._finish_work(plain, point, act, tally)
            return
        changes = self._changes() if not self._story.in_steps else ()
        for fault in self._judged(plain, answer, changes):
            tally.faults.append(f"{self._story} {point}: {fault}")
        if answer.status == UNKNOWN:
            again = told(act(headers))
            for fault in self._judged_again(plain, point, changes, again):
                tally.faults.append(f"{self._story} {point}, again: {fault}")

    def _lies(self) -> list[str]:
        """What others were told that is not so."""
        if not self._story.in_steps:
            return []
        return list(outside.lies(self._stored, World.receiver.requests))

    def _finish_work(self, plain: Plain, point: Point, act: Act, tally: Tally) -> None:
        """The next tick, when leases of the dead have ended, leaves what one or two plain runs
        leave."""
        self._stored.execute(END_LEASES)
        again = told(act({}))
        after = self._settled()
        if (again, after) not in ((plain.first, plain.once), (plain.second, plain.twice)):
            fault = f"told {again}; {difference(plain.once, after)}"
            tally.faults.append(f"{self._story} {point}, the next tick: {fault}")

    def _judged(self, plain: Plain, answer: Told, changes: Changes) -> Iterable[str]:
        if answer == plain.first:
            found = self._settled() if self._story.in_steps else changes
            if found != plain.once:
                yield f"LIE: told {answer}, but {difference(plain.once, found)}"
        elif answer.status != UNKNOWN:
            yield f"told {answer}, not {plain.first} or {UNKNOWN}"
        elif changes not in ((), plain.once) and not self._story.may_wait:
            yield f"half done: {difference(plain.once, changes)}"

    def _judged_again(
        self, plain: Plain, point: Point, changes: Changes, again: Told
    ) -> Iterable[str]:
        """The same key, or nothing stored: done once. Stored and asked anew: as twice. A session
        may be lost with an answer: then the person signs in again."""
        after, once, twice = map(self._lasting, (self._settled(), plain.once, plain.twice))
        if self._story.may_wait and (again.status == BUSY or again.words):
            return
        if self._story.in_steps:
            if after not in (once, twice):
                yield f"told {again}, but {difference(once, after)}"
            if again.status >= 500:
                yield f"told {again}"
        elif point.is_keyed or not changes:
            if (again, after) != (plain.first, once):
                yield f"told {again}, but {difference(once, after)}"
        elif (again, after) != (plain.second, twice) and not self._says_so(again, after == twice):
            yield f"told {again}, not {plain.second}; {difference(twice, after)}"

    def _says_so(self, again: Told, is_twice: bool) -> bool:
        return bool(self._story.leaves) and is_twice and again.status < 400

    def _lasting(self, changes: Changes) -> Changes:
        leaves = self._story.leaves
        kept = without_sessions(changes)
        return tuple(line for line in kept if not (leaves and line.startswith(leaves)))


class Point(NamedTuple):
    """Where the connection ends."""

    at: int
    moment: Moment
    is_keyed: bool

    def __str__(self) -> str:
        key = "with a key" if self.is_keyed else "without a key"
        return f"{self.moment.value} call {self.at} {key}"


def told(response: Any) -> Told:
    """What a response says. Pages say it by where they lead, and by a message there."""
    if isinstance(response, Told):
        return response
    if response.streaming and not _arrives(response):
        return Told(UNKNOWN)
    where = _unnumbered(response.get("Location", ""))
    request = getattr(response, "wsgi_request", None)
    words: Sequence[Any] = ()
    if request is not None and hasattr(request, "_messages"):
        storage: Any = get_messages(request)
        words = storage._queued_messages  # what was said and not shown yet
    return Told(response.status_code, where, tuple(_unnumbered(str(word)) for word in words))


def _arrives(response: Any) -> bool:
    """Whether a file comes to its end; the server breaks the connection off where it does not."""
    try:
        return all(True for _ in response.streaming_content)
    except DatabaseError:
        return False


def _unnumbered(text: str) -> str:
    """Masked, and without the numbers that rows are called by."""
    return masked(re.sub(r"(?<=[/“])\d+(?=[/”])|^\d+(?= is |: )", "…", text))


def difference(expected: Changes, found: Changes) -> str:
    """In which lines two states differ."""
    missing = Counter(expected) - Counter(found)
    surplus = Counter(found) - Counter(expected)
    lines = [f"- {line[:300]}" for line in missing] + [f"+ {line[:300]}" for line in surplus]
    return "\n    ".join(["stored differs:", *lines[:12]]) if lines else "the same is stored"


def _headers(is_keyed: bool) -> Headers:
    return {"Idempotency-Key": ids.new("key")} if is_keyed else {}
