"""Tells an outage of the database from a mistake of ours.

After an outage nobody knows whether the last transaction was stored: its COMMIT may have arrived
without our having heard the answer. So nothing here says that something failed, or succeeded.
"""

from __future__ import annotations

from django.db import Error as DatabaseProblem
from django.db import InterfaceError, InternalError, OperationalError, connection
from psycopg import errors

from common.engine.postgresql import atomic

RETRY_AFTER_SECONDS = 1
# Behind a pooler, the server connection was given to somebody else in the middle of a transaction.
_EXCHANGED = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)
# What PostgreSQL puts among its internal errors, and is none.
_PASSING = (
    errors.ReadOnlySqlTransaction,
    errors.IdleInTransactionSessionTimeout,
    errors.TransactionTimeout,
)


def is_outage(error: BaseException) -> bool:
    """Down, restarting, read-only during a failover, exchanged, or a row locked for too long."""
    if isinstance(error.__cause__, _EXCHANGED):
        return True
    if isinstance(error, InternalError):
        return isinstance(error.__cause__, _PASSING)
    return isinstance(error, OperationalError | InterfaceError)


def behind(error: BaseException | None) -> BaseException | None:
    """The outage that led to `error`, or is it; None where there was none."""
    while error is not None and not is_outage(error):
        error = error.__cause__ or error.__context__
    return error


def name_of(error: BaseException) -> str:
    """What to call it in the log: what PostgreSQL or psycopg called it, where one of them did."""
    is_ours = isinstance(error, DatabaseProblem) and error.__cause__ is not None
    return type(error.__cause__ if is_ours else error).__name__


def is_transaction_broken() -> bool:
    """Whether what surrounds this is lost whatever happens next: a transaction that must be undone,
    or one whose connection is gone. Whoever passes over an exception asks this first."""
    return connection.in_atomic_block and (connection.needs_rollback or atomic.is_lost(connection))
