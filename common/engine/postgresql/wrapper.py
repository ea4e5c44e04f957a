"""Django's PostgreSQL backend with the safety that money needs, on the fast path and off it.

With `DATABASE_FAST_PATH=False` this is the whole backend: each statement goes through Django's own
cursor. `fast` overrides what is slow.
"""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.postgresql import base
from django.db.backends.utils import debug_transaction
from psycopg import errors
from psycopg.pq import TransactionStatus

from common.engine.postgresql import atomic
from common.engine.postgresql.prepared import Row, Values

atomic.install()


class Wrapper(base.DatabaseWrapper):
    """Django's wrapper, which also refuses roles that grants do not bind, and never takes a lost
    transaction for a stored one."""

    health_check_done: bool  # Django's, which its stubs leave out
    rollback_exc: BaseException | None  # likewise
    is_rollback_meant = False  # somebody asked for it, instead of passing over what undid the work
    _is_role_known = False  # of the process: one look at it is enough

    def rows(self, statement: str, values: Values) -> list[Row]:
        """Run `statement` and return its rows. Raises Django's database errors."""
        with self.cursor() as cursor:
            cursor.execute(statement, values)
            return [] if cursor.description is None else list(cursor.fetchall())

    @property
    def queries_logged(self) -> bool:
        """Whether Django keeps the queries: while somebody captures them, but not because of DEBUG.

        With DEBUG alone Django would keep 9,000 statements of each connection, and `./run` would
        take another way through the database than production.
        """
        return self.force_debug_cursor

    def init_connection_state(self) -> None:
        super().init_connection_state()
        if settings.DATABASE_ROLE_MUST_BE_BOUND and not Wrapper._is_role_known:
            self._require_bound_role()
            Wrapper._is_role_known = True

    def _require_bound_role(self) -> None:
        """Raises ImproperlyConfigured for a role that no grant binds (decision 0114)."""
        # It needs django.db, which loads this module.
        from common.database import roles

        row = self.connection.execute(roles.WHO).fetchone()
        if words := roles.reason(*row):
            self.close()
            raise ImproperlyConfigured(
                f"DATABASE_URL: {words}, so no grant binds the product. Name a role that owns"
                " nothing and run `manage.py database_roles`, or set ALLOW_DATABASE_OWNER=True."
            )

    def set_rollback(self, rollback: bool) -> None:
        """Django's, which also notes that somebody wants the rollback (`atomic` says why)."""
        super().set_rollback(rollback)
        self.is_rollback_meant = rollback

    def validate_no_broken_transaction(self) -> None:
        """Django's, which also says if the connection was lost, because that is no bug of the
        caller."""
        if self.needs_rollback and atomic.is_lost(self):
            raise atomic.ConnectionLost("The connection was lost.") from self.rollback_exc
        super().validate_no_broken_transaction()

    def _commit(self) -> None:
        """Django's, which also notices if PostgreSQL answered the COMMIT of a failed transaction by
        a ROLLBACK.

        Raises InternalError if a statement had failed and somebody ignored that.
        """
        if self.connection is None:
            return
        with debug_transaction(self, "COMMIT"), self.wrap_database_errors:
            if self.connection.info.transaction_status == TransactionStatus.INERROR:
                self.connection.rollback()
                raise errors.InFailedSqlTransaction("A statement had failed: nothing was stored.")
            self.connection.commit()
