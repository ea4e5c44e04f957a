"""Proves seals: every round and seal is genuine and linked, and the rows are what was sealed. Only
reads.

To change rows unnoticed one needs the key, to change their seal. To remove a seal breaks its chain
and its round. To remove the newest rounds contradicts what was published (`seals.published`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Count, Max, Q

from common import sealed
from common.audits import Finding
from common.clock import text_of
from common.sealed import DatedRows
from seals import macs, naming, reading
from seals.models import Seal, SealRound
from seals.reading import Range
from seals.windows import Window

# How many rounds are read at once.
ROUNDS_AT_ONCE = 100
SEALS_AT_ONCE = 5_000
FORGED_FROM = 10_000
# The sweep that deletes old rows goes by its worker's clock.
_SLACK = timedelta(hours=1)
OPERATOR = "operator"


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What to prove: the numbers of rounds, in order; of some tenants or of all; of some kinds of
    row or of all; at `now`."""

    numbers: Sequence[int]
    now: datetime
    tenant_ids: tuple[str, ...] | None = None
    kinds: frozenset[str] | None = None

    def findings(self) -> Iterator[Finding]:
        """Prove it and return what is wrong, round by round."""
        for numbers in _consecutive(self.numbers):
            yield from self._run(numbers)

    def _run(self, numbers: Sequence[int]) -> Iterator[Finding]:
        """Prove rounds that follow each other, some at once."""
        batch: list[SealRound] = []
        for round_ in _genuine(numbers):
            if isinstance(round_, Finding):
                yield round_
                yield from self._rows(batch)
                batch = []
            elif batch and not _fits(batch, round_):
                yield from self._rows(batch)
                batch = [round_]
            else:
                batch.append(round_)
        yield from self._rows(batch)

    def _rows(self, rounds: Sequence[SealRound]) -> Iterator[Finding]:
        if not rounds:
            return
        seals = Seal.objects.filter(round_id__in=[each.number for each in rounds])
        by_round: dict[int, list[Seal]] = {each.number: [] for each in rounds}
        for seal in seals.order_by("round_id", "chain"):
            by_round[seal.round_id].append(seal)
        yield from self._seals(rounds, by_round)
        yield from self._dated(rounds, by_round)
        yield from self._lines(rounds, by_round)

    def _seals(
        self, rounds: Sequence[SealRound], by_round: dict[int, list[Seal]]
    ) -> Iterator[Finding]:
        """Check that each seal is genuine, follows the one before it, and that each round has all
        its seals."""
        before = _predecessors([seal for seals in by_round.values() for seal in seals])
        for round_ in rounds:
            seals = by_round[round_.number]
            for seal in seals:
                problem = _doubt(seal, before.get((seal.chain, seal.number - 1)), seal.number)
                if problem and self._is_meant(seal.chain):
                    yield _finding("chain", seal.chain, round_.number, f"{seal}: {problem}")
            if macs.digest_of(seals) != round_.seals_digest:
                message = f"{round_.seals} seals were made, and the {len(seals)} here are not they"
                yield _finding("missing", "", round_.number, message)

    def _dated(
        self, rounds: Sequence[SealRound], by_round: dict[int, list[Seal]]
    ) -> Iterator[Finding]:
        for name, kind in sealed.dated().items():
            if self.kinds is not None and name not in self.kinds:
                continue
            kept = [
                each
                for each in rounds
                if name in each.windows and not self._is_forgotten(kind, each)
            ]
            if kept and (layout := kept[0].windows[name][0]) > kind.layout:
                yield _finding("layout", "", kept[0].number, _newer(kind, layout))
            elif kept:
                yield from self._compare(kind, kept, by_round)

    def _compare(
        self, kind: DatedRows, rounds: Sequence[SealRound], by_round: dict[int, list[Seal]]
    ) -> Iterator[Finding]:
        """Compare what is in the rounds' windows now with what was sealed there."""
        windows = [Window.read(each.windows[kind.name]) for each in rounds]
        found = {
            (row.chain, rounds[row.place].number): (row.rows, row.digest)
            for row in reading.dated(kind, windows, tenant_ids=self.tenant_ids)
        }
        expected = {
            (seal.chain, each.number): tuple(seal.covers[kind.name])
            for each in rounds
            for seal in by_round[each.number]
            if kind.name in seal.covers and self._is_meant(seal.chain)
        }
        where = {each.number: window for each, window in zip(rounds, windows, strict=True)}
        for key in sorted(found.keys() | expected.keys(), key=lambda pair: (pair[1], pair[0])):
            now, then = found.get(key, (0, "")), expected.get(key, (0, ""))
            if now != then:
                chain, number = key
                message = f"{kind.label} {_span(where[number])}: {_difference(then[0], now[0])}"
                seal = next((each for each in by_round[number] if each.chain == chain), None)
                first = naming.first_broken(kind, where[number], chain=chain, seal=seal)
                yield _finding("rows", chain, number, f"{message}{first and '; '}{first}")

    def _lines(
        self, rounds: Sequence[SealRound], by_round: dict[int, list[Seal]]
    ) -> Iterator[Finding]:
        kind = sealed.lines()
        if self.kinds is not None and kind.name not in self.kinds:
            return
        asked = {
            Range(seal.chain, *seal.covers[kind.name][2:]): (each.number, seal.covers[kind.name])
            for each in rounds
            for seal in by_round[each.number]
            if kind.name in seal.covers and self._is_meant(seal.chain)
        }
        there = reading.lines(kind, list(asked), layout=rounds[0].windows[kind.name][0])
        found: dict[tuple[str, int], list[Any]] = {
            (row.chain, row.after): [row.rows, row.digest] for row in there
        }
        for span, (number, then) in asked.items():
            now = found.get((span.chain, span.after), [0, ""])
            if now != then[:2]:
                difference = _difference(then[0], now[0])
                message = f"{kind.label} {span.after + 1} to {span.upto}: {difference}"
                yield _finding("rows", span.chain, number, message)

    def _is_meant(self, chain: str) -> bool:
        return self.tenant_ids is None or chain in self.tenant_ids

    def _is_forgotten(self, kind: DatedRows, round_: SealRound) -> bool:
        """Whether some of the window's rows may have been deleted because of their age."""
        if kind.kept_for is None:
            return False
        since = Window.read(round_.windows[kind.name]).since
        return since is None or since < self.now - kind.kept_for + _SLACK


def last_number() -> int:
    """The number of the newest round. A number far above the count of rounds is forged and left
    out: to look for every number below it would take forever."""
    there = SealRound.objects.aggregate(last=Max("number"), rounds=Count("number"))
    return min(there["last"] or 0, int(there["rounds"]) + FORGED_FROM)


def strays() -> Iterator[Finding]:
    """Rounds and seals with numbers outside of those that are proven. The next genuine seal would
    follow a forged one there, which would say that lines are sealed although they are not."""
    last = last_number()
    others = SealRound.objects.filter(Q(number__lt=1) | Q(number__gt=last))
    for number in others.values_list("number", flat=True):
        yield _finding("round", "", number, "is no round of ours")
    for seal in Seal.objects.filter(Q(round_id__lt=1) | Q(round_id__gt=last)):
        yield _finding("chain", seal.chain, seal.round_id, f"{seal}: is of no round")


def _genuine(numbers: Sequence[int]) -> Iterator[SealRound | Finding]:
    """The rounds that can be relied on, and for each other one the reason why not."""
    for start in range(0, len(numbers), ROUNDS_AT_ONCE):
        wanted = numbers[start : start + ROUNDS_AT_ONCE]
        there = SealRound.objects.in_bulk([wanted[0] - 1, *wanted])
        for number in wanted:
            round_ = there.get(number)
            problem = _doubt(round_, there.get(number - 1), number)
            if problem or round_ is None:
                yield _finding("round", "", number, problem)
            else:
                yield round_


def _fits(batch: Sequence[SealRound], round_: SealRound) -> bool:
    """Whether its rows can be read together with those of the others: few enough, of the same
    layouts."""
    layouts = [
        {name: kept[0] for name, kept in each.windows.items()} for each in (batch[0], round_)
    ]
    seals = sum(each.seals for each in batch) + round_.seals
    return layouts[0] == layouts[1] and seals <= SEALS_AT_ONCE and len(batch) < ROUNDS_AT_ONCE


def _doubt(row: Seal | SealRound | None, before: Seal | SealRound | None, number: int) -> str:
    """Why `row`, which should follow `before`, cannot be relied on; empty if it can be."""
    if row is None:
        return "is gone"
    if problem := macs.doubt(row):
        return problem
    if number > 1 and before is None:
        return "has nothing before it"
    return (
        "" if row.previous == (before.mac if before else "") else "does not follow the one before"
    )


def _predecessors(seals: Collection[Seal]) -> dict[tuple[str, int], Seal]:
    """The seal before each of these, by chain and number."""
    known = {(seal.chain, seal.number): seal for seal in seals}
    missing = {(seal.chain, seal.number - 1) for seal in seals} - known.keys()
    chains, numbers = [chain for chain, _ in missing], [number for _, number in missing]
    others = Seal.objects.raw(
        "SELECT seal.* FROM seals_seal AS seal"
        " JOIN unnest(%s::text[], %s::int[]) AS asked (chain, number) USING (chain, number)",
        [chains, numbers],
    )
    return known | {(seal.chain, seal.number): seal for seal in others}


def _consecutive(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Runs of numbers without a gap."""
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        yield [number for _, number in run]


def _difference(then: int, now: int) -> str:
    if then == now:
        return f"what is here is not what was sealed ({then} rows)"
    return f"{then} rows were sealed, {now} are here"


def _span(window: Window) -> str:
    since = text_of(window.since) if window.since else "the beginning"
    return f"from {since} to {text_of(window.until)}"


def _newer(kind: DatedRows, layout: int) -> str:
    return f"{kind.label} were sealed by a newer release (layout {layout}): check with that one"


def _finding(code: str, chain: str, number: int, message: str) -> Finding:
    return Finding(
        code=f"seal_{code}",
        tenant_id=chain or OPERATOR,
        subject=f"round {number}",
        message=message,
    )
