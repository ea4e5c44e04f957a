"""`transaction.atomic` that never ends in silence after its work was undone.

Django's rolls back and returns as if all were well when something inside marked the transaction as
broken and the exception was passed over on its way out: a savepoint that could not be rolled back
because the connection was gone, or a failed `save` whose error somebody caught. Whoever called
would then tell a client of a success that nobody stored. Here every block, whoever wrote it, raises
at its end what undid it. `transaction.set_rollback(True)` undoes work on purpose, and is believed.
Decision 0110.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.transaction import Atomic, TransactionManagementError

_djangos_exit = Atomic.__exit__


class ConnectionLost(OperationalError):
    """The connection ended in the middle of a transaction; the server undid what it held."""


class RolledBack(TransactionManagementError):
    """Something failed inside a transaction, was passed over, and undid it all: a bug of ours."""


def install() -> None:
    """Make it the end of every atomic block, also of those in packages; there is no setting."""
    Atomic.__exit__ = _exit  # type: ignore[method-assign]


def is_lost(connection: Any) -> bool:
    """Whether the connection of this wrapper was there and is gone."""
    return connection.connection is None or bool(connection.connection.closed)


def _exit(
    self: Atomic,
    exc_type: type[BaseException] | None,
    exc_value: BaseException | None,
    traceback: TracebackType | None,
) -> None:
    connection = transaction.get_connection(self.using)
    ends_here = not connection.savepoint_ids or connection.savepoint_ids[-1] is not None
    undoing = _why_undone(connection) if exc_type is None and ends_here else None
    try:
        _djangos_exit(self, exc_type, exc_value, traceback)
    finally:
        if ends_here:
            connection.is_rollback_meant = False
        if exc_value is not None and connection.needs_rollback:
            connection.rollback_exc = exc_value
        elif not connection.in_atomic_block:
            connection.rollback_exc = None
    if undoing is not None:
        raise undoing from undoing.__cause__


def _why_undone(connection: Any) -> Exception | None:
    """What to raise at the end of a block that seems to end well; None where it does."""
    lost = is_lost(connection)
    if not (lost or connection.needs_rollback) or connection.is_rollback_meant:
        return None
    cause = connection.rollback_exc
    if lost or isinstance(cause, OperationalError | InterfaceError):
        reason: Exception = ConnectionLost("The connection was lost: nothing of this was stored.")
    else:
        reason = RolledBack("An error inside this transaction was passed over and undid all of it.")
    reason.__cause__ = cause
    return reason
