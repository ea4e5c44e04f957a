"""Status machines: one declared table of moves, and a compare-and-swap to make a move.

The same table drives the code, a database trigger, the tests and the diagrams.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pgtrigger
from django.db import models

from common.errors import Conflict


class IllegalTransition(Conflict):
    code = "illegal_transition"
    is_public = False
    title = "Not possible in this status"
    advice = "Read the object again: its status has changed, or never allowed this."


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
        if not moved:
            raise IllegalTransition(f"{row.pk} cannot go from {source} to {target}.")
        for name, value in {"status": target, **changes}.items():
            setattr(row, name, value)

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


def _reachable(initial: frozenset[str], moves: Mapping[str, frozenset[str]]) -> set[str]:
    seen, queue = set(initial), list(initial)
    while queue:
        for target in moves[queue.pop()] - seen:
            seen.add(target)
            queue.append(target)
    return seen
