"""The database backend named in `settings.DATABASES`."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base
from psycopg import Connection, Cursor
from psycopg.pq import TransactionStatus

KEPT_CURSORS_MAX = 100


class DatabaseWrapper(base.DatabaseWrapper):
    """A kept connection is looked at before each request, and asked only if something is odd.

    PostgreSQL says goodbye before it closes a connection, and a broken one is at its end: both make
    the socket readable, which an idle healthy one never is.
    """

    _cursors: dict[str, Cursor[Any]]
    _cursors_of: Connection[Any] | None = None

    def cursor_of(self, statement: str) -> Cursor[Any]:
        """The cursor that ran `statement` on this connection before, or a new one.

        A cursor that meets its last statement again still knows how to send and read its types.
        """
        if self._cursors_of is not self.connection or len(self._cursors) > KEPT_CURSORS_MAX:
            self._cursors, self._cursors_of = {}, self.connection
        cursor = self._cursors.get(statement)
        if cursor is None:
            cursor = self._cursors[statement] = self.connection.cursor()
        return cursor

    def forget_cursor(self, statement: str) -> None:
        """Keep no longer what `statement` gave last."""
        self._cursors.pop(statement, None)

    def is_usable(self) -> bool:
        """Whether the connection may be used again."""
        connection = self.connection
        if connection is None or connection.closed:
            return False
        is_at_rest = connection.info.transaction_status == TransactionStatus.IDLE
        return (is_at_rest and not _is_readable(connection.fileno())) or bool(super().is_usable())


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)  # an end and an error are always reported
    return bool(poll.poll(0))
