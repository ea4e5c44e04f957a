"""The database backend named in `settings.DATABASES`."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    """A kept connection is looked at before each request, and asked only if something is odd.

    PostgreSQL says goodbye before it closes a connection, and a broken one is at its end: both make
    the socket readable, which an idle healthy one never is.
    """

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
