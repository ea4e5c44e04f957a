"""Hot statements, savepoints and ends of transactions that bypass Django's cursor
(decision 0082)."""

from __future__ import annotations

import select
from typing import Any, Self, cast

import psycopg
from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg.pq import TransactionStatus

from common.engine.postgresql.direct import Direct
from common.engine.postgresql.prepared import DigestNames, Row, Values
from common.engine.postgresql.wrapper import Wrapper

_DIRECT = "_ballast_direct"
# The words at which psycopg sends DEALLOCATE ALL.
_CLEARING = ("DROP", "ALTER", "ROLLBACK", "DISCARD", "DEALLOCATE")


class Cursor(base.ServerBindingCursor, psycopg.Cursor[Any]):
    """Django's cursor, which also notices when psycopg deallocates all prepared statements, ours
    among them."""

    def execute(self, query: Any, *args: Any, **kwargs: Any) -> Self:
        with direct_of(self.connection).walled():
            super().execute(query, *args, **kwargs)
        is_script = isinstance(query, str) and ";" in query
        if is_script or (self.statusmessage or "").startswith(_CLEARING):
            direct_of(self.connection).forget()
        direct_of(self.connection).note_end()
        return self

    def executemany(self, *args: Any, **kwargs: Any) -> None:
        with direct_of(self.connection).walled():
            super().executemany(*args, **kwargs)


class PooledConnection(psycopg.Connection[Any]):
    """A connection that psycopg's pool rolls back if it is returned in the middle of a
    transaction."""

    def rollback(self) -> None:
        """Roll back by `Direct`, because psycopg's own rollback would forget what is prepared."""
        direct_of(self).end(b"ROLLBACK")


class FastWrapper(Wrapper):
    """Sends hot statements and savepoints to libpq, and checks a connection's health without a
    round trip."""

    _direct: Direct

    def rows(self, statement: str, values: Values) -> list[Row]:
        """Run `statement`, prepared. Checks and raises what Django's cursor would.

        While somebody captures the queries it goes through Django's cursor, so that they are seen.
        """
        if self.force_debug_cursor or self.execute_wrappers:
            return super().rows(statement, values)
        if self.connection is None or self.needs_rollback or not self.health_check_done:
            self.close_if_health_check_failed()
            self.ensure_connection()
            self.validate_no_broken_transaction()
        try:
            return self._direct.rows(statement, values)
        except psycopg.Error:
            with self.wrap_database_errors:
                raise

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        connection: psycopg.Connection[Any] = super().get_new_connection(conn_params)
        self._direct = direct_of(connection)
        return connection

    def _set_autocommit(self, autocommit: bool) -> None:
        """Django's, which begins a transaction after what `Direct.walled` has left open."""
        if not autocommit:
            with self.wrap_database_errors:
                self._direct.end_kept()
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # the stubs leave it out

    def get_connection_params(self) -> dict[str, Any]:
        return {**super().get_connection_params(), "cursor_factory": Cursor}

    @property
    def pool(self) -> Any:
        if options := self.settings_dict["OPTIONS"].get("pool"):
            options["connection_class"] = PooledConnection
        return super().pool

    # After psycopg's `rollback`, or a cursor's, nothing would be prepared any more. And a cursor
    # costs more than PostgreSQL's work on a savepoint.

    def _commit(self) -> None:
        self._end("COMMIT")

    def _rollback(self) -> None:
        self._end("ROLLBACK")

    def _end(self, command: str) -> None:
        if self.connection is not None:
            with debug_transaction(self, command), self.wrap_database_errors:
                self._direct.end(command.encode())

    def _savepoint(self, sid: str) -> None:
        self._command(self.ops.savepoint_create_sql(sid))

    def _savepoint_rollback(self, sid: str) -> None:
        self._command(self.ops.savepoint_rollback_sql(sid))

    def _savepoint_commit(self, sid: str) -> None:
        self._command(self.ops.savepoint_commit_sql(sid))

    def _command(self, text: str) -> None:
        with debug_transaction(self, text), self.wrap_database_errors:
            self._direct.command(text)

    def is_usable(self) -> bool:
        """Whether a kept connection may be used again. A query is sent only if something looks odd.

        PostgreSQL sends a message before it closes a connection, and a broken connection is at its
        end. Both make the socket readable, which that of an idle healthy connection never is.
        """
        connection = self.connection
        if connection is None or connection.closed:
            return False
        is_at_rest = connection.info.transaction_status == TransactionStatus.IDLE
        return (is_at_rest and not _is_readable(connection.fileno())) or bool(super().is_usable())


def direct_of(connection: psycopg.Connection[Any]) -> Direct:
    """The `Direct` of a connection. It is stored with the connection, so that a pool hands out both
    together."""
    kept = vars(connection)
    if _DIRECT not in kept:
        names = DigestNames()
        names.prepare_threshold = connection.prepare_threshold
        connection._prepared = names
        kept[_DIRECT] = Direct(connection)
    return cast("Direct", kept[_DIRECT])


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)  # an end and an error are always reported
    return bool(poll.poll(0))
