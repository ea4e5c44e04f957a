"""Makes a failing plan smaller: fewer days, breaks and acts, as long as it fails in the
same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from simulation.plans import Plan

T = TypeVar("T")

Fails = Callable[[Plan], bool]


class _Spent(Exception):
    """The allowed number of tries is used up."""


def shrink(plan: Plan, fails: Fails, *, tries: int) -> Plan:
    """The smallest plan found that still fails. Each try runs a plan."""
    smallest = [plan]

    def try_(candidate: Plan) -> bool:
        nonlocal tries
        if tries == 0:
            raise _Spent
        tries -= 1
        if candidate == smallest[0] or not fails(candidate):
            return False
        smallest[0] = candidate
        return True

    try:
        _fewer_days(smallest, try_)
        try_(smallest[0].with_breaks(()))
        _fewer(smallest, try_, _numbers, lambda p, kept: p.only(set(kept)))
        # Breaks of acts that are gone are gone with them, so they need not be tried one by one.
        _fewer(smallest, try_, lambda p: p.breaks, lambda p, kept: p.with_breaks(kept))
    except _Spent:
        pass
    return smallest[0]


def _numbers(plan: Plan) -> tuple[int, ...]:
    return tuple(act.number for act in plan.acts)


def _fewer_days(smallest: list[Plan], try_: Fails) -> None:
    while len(smallest[0].nights) > 1:
        last = len(smallest[0].nights) - 1
        early = {act.number for act in smallest[0].acts if act.day < last}
        if not try_(smallest[0].only(early)):
            return


def _fewer(
    smallest: list[Plan],
    try_: Fails,
    parts_of: Callable[[Plan], Sequence[T]],
    with_only: Callable[[Plan, Sequence[T]], Plan],
) -> None:
    """Leave out parts: first half of them, then fewer and fewer at a time."""
    size = (len(parts_of(smallest[0])) + 1) // 2
    while size > 0:
        at = 0
        while at < len(parts := parts_of(smallest[0])):
            if not try_(with_only(smallest[0], [*parts[:at], *parts[at + size :]])):
                at += size
        size //= 2
