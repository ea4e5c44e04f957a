"""Functions that join their caller's transaction, and calls that wait for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

from django.db import connection, transaction

P = ParamSpec("P")
T = TypeVar("T")


def in_transaction(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` in the caller's transaction, or in one of its own if there is none.

    Unlike `transaction.atomic` it makes no savepoint. If it raises, the caller has to roll back
    what it wrote, like everything before it.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        with transaction.atomic():
            return function(*args, **kwargs)

    return run


class _Deferred(NamedTuple):
    """Calls for the end of a block, and how many savepoints were open when the block began."""

    acts: list[Callable[[], object]]
    savepoints: int


class _Current(threading.local):
    block: _Deferred | None = None


_current = _Current()


@contextmanager
def deferring() -> Iterator[None]:
    """A block that runs the calls passed to `before_commit` at its end, right before the COMMIT."""
    outer, mine = _current.block, _Deferred([], len(connection.savepoint_ids))
    _current.block = mine
    try:
        yield
        _current.block = None
        for act in mine.acts:
            act()
    finally:
        _current.block = outer


def before_commit(act: Callable[[], object]) -> None:
    """Call `act` at the end of the surrounding `deferring` block, or now if there is none.

    Use it for rows that many transactions wait for, such as a busy balance: the row is then not
    locked while an answer is built. Inside a savepoint `act` is called now, because a rollback to
    the savepoint must undo it.
    """
    block = _current.block
    if block is None or len(connection.savepoint_ids) != block.savepoints:
        act()
    else:
        block.acts.append(act)
