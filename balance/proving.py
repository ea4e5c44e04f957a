"""The steps of an audit: the chains, the rules over all rows, and the rules about each row.

A full proof goes through them part by part, each in a snapshot of its own. It can stop after any
part and continue there, so a tenant of any size can be proven a bit at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from balance import chains
from common import audits
from common.audits import Finding, Scope, Slices, Unanswered, snapshot

SLICE = 1_000
_CHAINS, _RULES = "", "rules"


class Position(NamedTuple):
    """Where to go on: a step, and the last row of it that was judged."""

    step: str = _CHAINS
    after: str = ""


class Part(NamedTuple):
    """What one part of a proof found, and where the next one begins (None: it was the last).

    It proves nothing unless all networks that had to be asked have answered.
    """

    findings: list[Finding]
    go_on: Position | None
    is_answered: bool = True


def recent(scope: Scope, *, now: datetime) -> Iterator[Finding]:
    """The usual check: chains above their checkpoints, and what moved lately."""
    yield from chains.check(scope, now=now)
    yield from _rules(scope)
    for slices in audits.slices():
        with snapshot():
            ids = slices.recent(scope)
        for start in range(0, len(ids), SLICE):
            yield from _judge(slices, ids[start : start + SLICE])[0]


def everything(
    tenant_ids: Sequence[str], *, now: datetime, start: Position | None = None
) -> Iterator[Part]:
    """Judge everything about these tenants, part by part, from `start` on.

    Starts from the first step if `start` names a step that does not exist any more.
    """
    scope = Scope(tenant_ids=tuple(tenant_ids), full=True)
    kinds = {slices.name: slices for slices in audits.slices()}
    steps = [_CHAINS, _RULES, *kinds]
    first = start if start and start.step in steps else Position()
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if steps.index(step) < steps.index(first.step):
            continue
        end = None if following is None else Position(following)
        after = first.after if step == first.step else ""
        if step in kinds:
            yield from _pages(kinds[step], tenant_ids, after, end)
        else:
            found = chains.check(scope, now=now) if step == _CHAINS else _rules(scope)
            yield Part(list(found), end)


def _pages(
    slices: Slices, tenant_ids: Sequence[str], after: str, end: Position | None
) -> Iterator[Part]:
    """One part a page; the page that is not full is the last one."""
    while True:
        ids = slices.page(tenant_ids, after, SLICE)
        is_last = len(ids) < SLICE
        findings, is_answered = _judge(slices, ids)
        yield Part(findings, end if is_last else Position(slices.name, ids[-1]), is_answered)
        if is_last:
            return
        after = ids[-1]


def _rules(scope: Scope) -> Iterator[Finding]:
    for rule in audits.checks():
        with snapshot():
            found = list(rule(scope))
        yield from found


def _judge(slices: Slices, ids: Sequence[str]) -> tuple[list[Finding], bool]:
    """Find what is wrong with these rows, by our own books and by those of the networks. Also says
    whether the networks have answered."""
    if not ids:
        return [], True
    with snapshot():
        findings = list(slices.judge(ids))
    try:
        return findings + list(slices.ask(ids)), True
    except Unanswered:
        return findings, False
