"""Transactions of functions that are usually called inside of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection, transaction

P = ParamSpec("P")
T = TypeVar("T")


def joined(function: Callable[P, T]) -> Callable[P, T]:
    """Run `function` in the caller's transaction, or in one of its own where there is none.

    Unlike `transaction.atomic` it costs no savepoint: what a refusal leaves behind is for the
    caller to undo, as all that happened before it.
    """

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        with transaction.atomic():
            return function(*args, **kwargs)

    return run
