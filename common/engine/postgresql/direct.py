"""Statements are given to libpq itself: there is no cursor, they are prepared once per connection,
and their types are known from then on.

psycopg's cursor finds out at every call what libpq needs to know, at three times the cost of
libpq's own work (decision 0082). These calls wait in libpq without the interpreter's lock. A signal
handler runs only when the statement is over, but for those of `together`; the timeouts of statement
and lock bound that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from psycopg import Connection, errors
from psycopg import Error as PsycopgError
from psycopg.pq import TransactionStatus

from common.engine.postgresql.prepared import Prepared, Row, Values, checked
from common.engine.postgresql.together import Together, Told

PREPARED_MAX = 200

_BEGIN = "BEGIN"
_TELL = "SELECT set_config('ballast.tenant', %s, true)"
_ID = re.compile(r"[A-Za-z0-9_]{1,64}")
_OUTDATED = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)


class Direct:
    """The prepared statements of one connection, and the commands of its transactions."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._prepared: dict[str, Prepared] = {}
        self._has_ended_early = False
        self._stale: set[str] = set()  # whose plan the server may still keep, from before a change
        self._tenant: str | None = None
        self._keeps = False
        self._before: tuple[Told, ...] | None = None
        self._together = Together(connection.pgconn)

    def see(self, tenant: str | None, *, keeps: bool) -> None:
        """Show the rows of `tenant` alone, whose id PostgreSQL is told with each BEGIN; or, if
        None, what the role sees without one.

        A statement outside of a transaction gets one of its own, or, with `keeps` and unless `rows`
        runs it, one with those that follow. Raises ValueError for what is no id.
        """
        if tenant is not None and not _ID.fullmatch(tenant):
            raise ValueError("This is no id of a tenant.")
        if self._pgconn.transaction_status != TransactionStatus.IDLE:
            self.end_kept()
        self._tenant, self._keeps = tenant, keeps
        self._before = None

    @contextmanager
    def walled(self) -> Iterator[None]:
        """A block whose one statement sees the rows of the tenant."""
        if self._tenant is None:
            yield
            return
        self._begin()
        try:
            yield
        except BaseException:
            if self._connection.autocommit:
                with suppress(PsycopgError):  # the statement's own error says more
                    self.end(b"ROLLBACK")
            raise
        if not self._keeps:
            self.end_kept()

    def end_kept(self) -> None:
        """End what `walled` has begun."""
        is_open = self._pgconn.transaction_status != TransactionStatus.IDLE
        if is_open and self._connection.autocommit:
            self.end(b"COMMIT")

    def rows(self, statement: str, values: Values) -> list[Row]:
        """Run `statement`, in a transaction if autocommit is off. Raises psycopg's errors.

        A statement whose table was changed, or that this server connection does not know, is
        prepared again unless a transaction is open, because the error has ended that. A transaction
        that this call had just begun is begun again.
        """
        if self._tenant is None:
            return self._rows(statement, values)
        if self._pgconn.transaction_status == TransactionStatus.IDLE:
            prepared, before = self._prepared.get(statement), self._before or self._beginning()
            if prepared and before:
                if self._connection.autocommit:  # what is before a Sync is one transaction
                    before = before[1:]
                try:
                    return prepared.rows_after(before, values, self._together)
                except _OUTDATED as error:  # it was the first of its transaction
                    self._forget_outdated(error)
                    self._undo()
        # Behind a pooler, what is prepared in a transaction is on the server that will run it.
        with self.walled():
            for text in (_BEGIN, _TELL):
                if text not in self._prepared:
                    self._prepare(text)
            return self._rows(statement, values)

    def _beginning(self) -> tuple[Told, ...] | None:
        """What goes before the first statement of a transaction; None if it is not prepared yet."""
        begins, tells = self._prepared.get(_BEGIN), self._prepared.get(_TELL)
        if begins and tells and self._tenant:
            self._before = ((begins.name, ()), (tells.name, (self._tenant.encode(),)))
        return self._before

    def _rows(self, statement: str, values: Values) -> list[Row]:
        has_begun = self._begin() or self._connection.autocommit
        try:
            return (self._prepared.get(statement) or self._prepare(statement)).rows(values)
        except _OUTDATED as error:
            self._forget_outdated(error)
            if has_begun and isinstance(error, errors.InvalidSqlStatementName):
                self.end(b"ROLLBACK")
                self._begin()
            elif self._pgconn.transaction_status != TransactionStatus.IDLE:
                raise
            return self._prepare(statement).rows(values)

    def _forget_outdated(self, error: PsycopgError) -> None:
        if isinstance(error, errors.FeatureNotSupported):
            self._stale |= self._prepared.keys()
        self.forget()

    def _undo(self) -> None:
        if self._pgconn.transaction_status != TransactionStatus.IDLE:
            checked(self._pgconn.exec_(b"ROLLBACK"))

    def forget(self) -> None:
        """Forget the prepared statements, so that each is prepared again."""
        self._prepared.clear()
        self._before = None

    def command(self, text: str) -> None:
        """Run a command of the transaction, such as SAVEPOINT. Statements stay prepared."""
        self._begin()
        checked(self._pgconn.exec_(text.encode()))

    def end(self, command: bytes) -> None:
        """COMMIT or ROLLBACK the transaction, if there is one. Statements stay prepared.

        Raises InFailedSqlTransaction for a COMMIT that PostgreSQL turned into a ROLLBACK: it does
        that without an error if a statement failed and somebody ignored it. Raises it, too, if
        somebody had ended the transaction by a statement of their own; what came after that is
        rolled back.
        """
        if self._has_ended_early:
            self._has_ended_early = False
            if command == b"COMMIT":
                self.end(b"ROLLBACK")
                raise errors.InFailedSqlTransaction("A statement had ended the transaction before.")
        if self._pgconn.transaction_status == TransactionStatus.IDLE:
            return
        result = checked(self._pgconn.exec_(command))
        if result.command_status != command:
            raise errors.InFailedSqlTransaction("COMMIT was a ROLLBACK: a statement had failed.")

    def note_end(self) -> None:
        """Note what a cursor's statement did. Without autocommit it leaves a transaction open,
        unless it was itself a COMMIT or a ROLLBACK, which did not come from `end`."""
        if (
            self._pgconn.transaction_status == TransactionStatus.IDLE
            and not self._connection.autocommit
        ):
            self._has_ended_early = True

    def _begin(self) -> bool:
        """Begin a transaction if one is needed; returns whether it did."""
        if self._connection.autocommit and self._tenant is None:
            return False
        if self._pgconn.transaction_status != TransactionStatus.IDLE:
            return False
        told = f"; SET LOCAL ballast.tenant = '{self._tenant}'" if self._tenant else ""
        checked(self._pgconn.exec_(f"BEGIN{told}".encode()))
        return True

    def _prepare(self, statement: str) -> Prepared:
        if len(self._prepared) >= PREPARED_MAX:
            oldest = self._prepared.pop(next(iter(self._prepared)))
            self._before = None
            checked(self._pgconn.close_prepared(oldest.name))
        anew = statement in self._stale
        prepared = self._prepared[statement] = Prepared(self._connection, statement, anew=anew)
        self._stale.discard(statement)
        return prepared
