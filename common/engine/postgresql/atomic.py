"""`transaction.atomic` that never ends as if all were well after its work was rolled back.

Django's can do that if something inside marked the transaction as broken and the exception was
caught on its way out: a savepoint could not be rolled back because the connection was gone, or a
`save` failed and somebody caught its error. The caller would then tell a client of a success that
was not stored. Here every block, whoever wrote it, raises at its end what undid it.
`transaction.set_rollback(True)` undoes work on purpose, so the block then raises nothing. Decision
0110.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.transaction import Atomic, TransactionManagementError

_djangos_exit = Atomic.__exit__


class ConnectionLost(OperationalError):
    """The connection ended in the middle of a transaction; the server rolled the
    transaction back."""


class RolledBack(TransactionManagementError):
    """Something failed inside a transaction, was ignored, and rolled all of it back. That is a bug
    of ours."""


def install() -> None:
    """Put the check at the end of every atomic block, also of those in packages. Django has no
    setting for it."""
    Atomic.__exit__ = _exit  # type: ignore[method-assign]


def is_lost(connection: Any) -> bool:
    """Whether this wrapper had a connection that is lost now."""
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
    """What to raise at the end of a block that seems to end well; None if nothing was
    rolled back."""
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
