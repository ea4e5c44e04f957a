"""Status machines: one declared table of moves, and a compare-and-swap to make a move.

The same table drives the code, a database trigger, the tests and the diagrams.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pgtrigger
from django.db import models

from common.engine import many
from common.errors import Conflict


class IllegalTransition(Conflict):
    code = "illegal_transition"
    is_public = False
    title = "This is not possible in the current status"
    advice = "Read the object again: its status has changed, or never allowed this."


class Step(NamedTuple):
    """A move of one row, and what else changes with it."""

    row: Any
    target: str
    changes: Mapping[str, Any]


class StateTable:
    """The allowed moves of one status enum.

    Every status needs a row, and every status must be reachable from an initial one.
    """

    def __init__(
        self, *, initial: frozenset[str], moves: Mapping[str, frozenset[str]], states: set[str]
    ) -> None:
        if set(moves) != states:
            raise ValueError(f"every status needs a row: {states ^ set(moves)}")
        if unreachable := states - _reachable(initial, moves):
            raise ValueError(f"unreachable: {unreachable}")
        self.initial = initial
        self.moves = moves

    def allows(self, source: str, target: str) -> bool:
        return target in self.moves[source]

    def advance(self, row: models.Model, target: str, **changes: Any) -> None:
        """Move `row` from the status it was read with to `target`.

        Raises IllegalTransition when the table has no such move or another worker got there first.
        """
        source: str = row.status  # type: ignore[attr-defined]  # every machine's model has it
        manager = type(row)._default_manager
        moved = self.allows(source, target) and manager.filter(pk=row.pk, status=source).update(
            status=target, **changes
        )
        step = Step(row, target, changes)
        if not moved:
            raise _refusal(step)
        _write_down(step)

    def advance_many(self, steps: Sequence[Step]) -> None:
        """`advance` for rows of one model, each at most once: one statement for those of `steps`
        that change the same columns.

        The caller holds the rows' locks, or two workers may wait for each other's. Raises
        IllegalTransition as `advance` does, in a transaction that the caller must undo then.
        """
        alike: dict[tuple[str, ...], list[Step]] = {}
        for step in steps:
            if not self.allows(step.row.status, step.target):
                raise _refusal(step)
            alike.setdefault(tuple(step.changes), []).append(step)
        for group in alike.values():
            moved = many.swap(
                type(group[0].row),
                column="status",
                swaps=[many.Swap(s.row.pk, s.row.status, s.target, s.changes) for s in group],
            )
            if late := [step for step in group if step.row.pk not in moved]:
                raise _refusal(late[0])
        for step in steps:
            _write_down(step)

    def trigger(self, name: str) -> pgtrigger.Trigger:
        """The table as a database trigger: any other change of `status` is refused."""
        allowed = " OR ".join(
            f"(OLD.status = '{source}' AND NEW.status = '{target}')"
            for source, targets in sorted(self.moves.items())
            for target in sorted(targets)
        )
        return pgtrigger.Trigger(
            name=name,
            operation=pgtrigger.UpdateOf("status"),
            when=pgtrigger.Before,
            condition=pgtrigger.Condition(
                f"OLD.status IS DISTINCT FROM NEW.status AND NOT ({allowed})"
            ),
            func="RAISE EXCEPTION 'status cannot go from % to %', OLD.status, NEW.status"
            " USING ERRCODE = 'check_violation';",
        )


def _refusal(step: Step) -> IllegalTransition:
    return IllegalTransition(f"{step.row.pk} cannot go from {step.row.status} to {step.target}.")


def _write_down(step: Step) -> None:
    """What the database now says, on the object as well."""
    for name, value in {"status": step.target, **step.changes}.items():
        setattr(step.row, name, value)


def _reachable(initial: frozenset[str], moves: Mapping[str, frozenset[str]]) -> set[str]:
    seen, queue = set(initial), list(initial)
    while queue:
        for target in moves[queue.pop()] - seen:
            seen.add(target)
            queue.append(target)
    return seen
