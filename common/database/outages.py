"""Tells an outage of the database from a bug of ours.

After an outage nobody knows whether the last transaction was stored: its COMMIT may have arrived
although we got no answer. So nothing here says that something failed, or succeeded.
"""

from __future__ import annotations

from django.db import Error as DatabaseProblem
from django.db import InterfaceError, InternalError, OperationalError, connection
from psycopg import errors

from common.engine.postgresql import atomic

RETRY_AFTER_SECONDS = 1
# Behind a pooler, the server connection can be given to another client in the middle of a
# transaction.
_EXCHANGED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)
# Errors that PostgreSQL lists as internal errors, and that are outages.
_PASSING = (
    errors.ReadOnlySqlTransaction,
    errors.IdleInTransactionSessionTimeout,
    errors.TransactionTimeout,
)


def is_outage(error: BaseException) -> bool:
    """Whether the database is down, restarting, read-only during a failover or replaced, or a row
    stayed locked for too long."""
    if isinstance(error.__cause__, _EXCHANGED):
        return True
    if isinstance(error, InternalError):
        return isinstance(error.__cause__, _PASSING)
    return isinstance(error, OperationalError | InterfaceError)


def is_lock_timeout(error: BaseException) -> bool:
    """Whether what somebody else has locked was waited for in vain."""
    return isinstance(error.__cause__, errors.LockNotAvailable)


def behind(error: BaseException | None) -> BaseException | None:
    """The outage that led to `error`, or is it; None if there was none."""
    while error is not None and not is_outage(error):
        error = error.__cause__ or error.__context__
    return error


def name_of(error: BaseException) -> str:
    """The outage's name for the log: PostgreSQL's or psycopg's, if one of them has a name
    for it."""
    is_ours = isinstance(error, DatabaseProblem) and error.__cause__ is not None
    return type(error.__cause__ if is_ours else error).__name__


def is_transaction_broken() -> bool:
    """Whether the transaction around this is lost in any case, because it has to be rolled back or
    its connection is gone. Code that catches an exception and goes on asks this first."""
    return connection.in_atomic_block and (connection.needs_rollback or atomic.is_lost(connection))
