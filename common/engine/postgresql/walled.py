"""The connection of a request that sees the rows of one tenant (decision 0167).

Its role sees no row of a tenant until it is told which one, with the BEGIN of each transaction: a
setting of the session would stay with the server's connection, which a pooler gives to others.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import psycopg
from django.conf import settings
from django.db import Error as DatabaseProblem

from common.engine.postgresql.fast import FastWrapper, direct_of
from common.engine.postgresql.wrapper import Wrapper


class ServerCursor(psycopg.ServerCursor[Any]):
    """A named cursor, which is declared in a transaction that sees the tenant."""

    def execute(self, *args: Any, **kwargs: Any) -> Self:
        with direct_of(self.connection).walled():
            super().execute(*args, **kwargs)
        return self


class WalledWrapper(FastWrapper):
    """Django's connection under a role of its own. Between requests it sees no tenant."""

    _connection_pools: ClassVar[dict[str, Any]] = {}  # the other role's pool has the same alias
    _tenant: str | None = None
    _keeps = False
    if not settings.DATABASE_FAST_PATH:  # then statements go the way of the other connections
        rows = Wrapper.rows

    def enter(self, *, only_reads: bool) -> None:
        """Begin a request. Reads by Django's cursor that follow each other share a transaction if
        it `only_reads`."""
        self._keeps = only_reads

    def see(self, tenant: str | None) -> None:
        """Show the rows of this tenant from now on. Raises ValueError for what is no id."""
        self._tenant = tenant
        if self.connection is not None:
            try:
                self._direct.see(tenant, keeps=self._keeps)
            except psycopg.Error:
                with self.wrap_database_errors:
                    raise

    def leave(self) -> None:
        """End a request: no tenant is seen, and the connection is checked before its next use.

        Raises nothing: what is still open has only read, or noted when a key was used.
        """
        try:
            self.see(None)
        except DatabaseProblem:
            self._tenant = None
            self.close()
        if self.errors_occurred or self.close_at is not None or not self.autocommit:
            self.close_if_unusable_or_obsolete()
        else:  # the same, without asking what needs no answer
            self.health_check_done = False

    def get_new_connection(self, conn_params: dict[str, Any]) -> psycopg.Connection[Any]:
        connection = super().get_new_connection(conn_params)
        connection.server_cursor_factory = ServerCursor
        self._direct.see(self._tenant, keeps=self._keeps)
        return connection
