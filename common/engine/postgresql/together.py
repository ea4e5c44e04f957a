"""Prepared statements that go to PostgreSQL together, in one round trip (decision 0193).

libpq's pipeline sends what tells the tenant and the statement that sees it before one Sync.
PostgreSQL takes both for one transaction, which ends with the Sync: nothing of the tenant stays
with the server's connection, and there is no BEGIN and no COMMIT. With a BEGIN before them they are
the first two of a transaction that goes on.

Waiting is `poll`'s work, without the interpreter's lock: libpq's `PQgetResult` would keep it.
"""

from __future__ import annotations

import select
from collections.abc import Sequence
from typing import Any

from psycopg.errors import OperationalError
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult

_FAILED = (ExecStatus.FATAL_ERROR, ExecStatus.PIPELINE_ABORTED)


# A prepared statement that returns nothing of interest, by its name, and its values.
Told = tuple[bytes, Sequence[bytes]]


class Together:
    """Sends statements of one connection together, outside of a transaction."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        self._readable = select.poll()
        self._readable.register(pgconn.socket, select.POLLIN)

    def run(
        self,
        before: Sequence[Told],
        name: bytes,
        given: Sequence[Any],
        formats: Sequence[Format],
    ) -> PGresult:
        """The result of the prepared statement `name`, which runs after those `before`; or the
        first error, which may be that of the transaction's end. Then nothing was stored, and a
        transaction that began has failed.

        Raises OperationalError if the connection is lost. Whatever is raised here closes the
        connection, because what it would answer next is nobody's.
        """
        pgconn = self._pgconn
        try:
            pgconn.enter_pipeline_mode()
            for told, its in before:
                pgconn.send_query_prepared(told, its)
            pgconn.send_query_prepared(name, given, formats, Format.BINARY)
            pgconn.pipeline_sync()
            if pgconn.flush():
                self._send()
            results = self._results()
            pgconn.exit_pipeline_mode()
            if len(results) <= len(before):
                raise OperationalError("PostgreSQL answered less than it was asked.")
        except BaseException:
            pgconn.finish()
            raise
        for result in results:
            if result.status in _FAILED:
                return result
        return results[-1]

    def _send(self) -> None:
        """Send what the socket has not taken yet: values can be larger than its buffer."""
        while self._pgconn.flush():
            writable = select.poll()
            writable.register(self._pgconn.socket, select.POLLIN | select.POLLOUT)
            writable.poll()
            self._pgconn.consume_input()

    def _results(self) -> list[PGresult]:
        """One of each statement, and an error if the transaction could not end."""
        found: list[PGresult] = []
        pgconn, last = self._pgconn, None
        while True:
            while pgconn.is_busy():
                self._readable.poll()
                pgconn.consume_input()
            result = pgconn.get_result()
            if result is not None:
                if result.status == ExecStatus.PIPELINE_SYNC:
                    return found
                found.append(result)
            elif last is None or pgconn.status != ConnStatus.OK:  # None ends a statement's results
                raise OperationalError("The connection was lost.")
            last = result
