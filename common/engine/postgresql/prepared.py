"""Statements that are prepared on one connection: their names, their places, their types.

A prepared statement is named by a digest of its text. Behind a pooler that gives one server
connection to several clients, a name then means the same text for all of them (decision 0121).
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from psycopg import Connection, errors
from psycopg._preparing import Prepare, PrepareManager
from psycopg._queries import PostgresQuery
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.errors import DataError, OperationalError
from psycopg.pq import DiagnosticField, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

from common.engine.postgresql.together import Together, Told

Row = tuple[Any, ...]
Values = Mapping[str, Any] | Sequence[Any]

_LOOK = b"SELECT FROM pg_prepared_statements WHERE name = $1"
_PLACE = re.compile(r"%(?:(%)|(?:\((\w+)\))?s)")
# psycopg's own dumpers for the smaller two silently cut off numbers that are too large.
_INTEGERS = {"int2": struct.Struct("!h"), "int4": struct.Struct("!i"), "int8": struct.Struct("!q")}


class Prepared:
    """A prepared statement of one connection. PostgreSQL says which types it takes and returns."""

    def __init__(self, connection: Connection[Any], statement: str, *, anew: bool) -> None:
        text, keys = _numbered(statement)
        self.name = name_of(text.encode())
        self._pgconn = connection.pgconn
        self._make(text.encode(), anew=anew)
        known = checked(self._pgconn.describe_prepared(self.name))
        types = [known.param_type(number) for number in range(known.nparams)]
        self._dumps = list(zip(keys, [_dump_of(oid, connection) for oid in types], strict=True))
        self._formats = [Format.BINARY] * known.nparams
        self._loads = Transformer(connection)
        columns = [known.ftype(number) for number in range(known.nfields)]
        self._loads.set_loader_types(columns, Format.BINARY)

    def _make(self, text: bytes, *, anew: bool) -> None:
        """Prepare `text` under the name, unless another client of this server connection did. With
        `anew`, replace a statement whose table was changed.

        The name is looked for first: to prepare under a name that is taken would end an open
        transaction.
        """
        if checked(self._pgconn.exec_params(_LOOK, [self.name])).ntuples:
            if not anew:
                return
            checked(self._pgconn.exec_(b"DEALLOCATE " + self.name))
        try:
            checked(self._pgconn.prepare(self.name, text))
        except errors.DuplicatePreparedStatement:
            # The pooler looked on one server connection and prepared on another. The text is the
            # same.
            if self._pgconn.transaction_status != TransactionStatus.IDLE:
                raise

    def rows(self, values: Values) -> list[Row]:
        given = self._parameters(values)
        return self._loaded(
            self._pgconn.exec_prepared(self.name, given, self._formats, Format.BINARY)
        )

    def rows_after(self, before: Sequence[Told], values: Values, together: Together) -> list[Row]:
        """The rows, in the same round trip with statements that go before."""
        given = self._parameters(values)
        return self._loaded(together.run(before, self.name, given, self._formats))

    def _loaded(self, result: PGresult) -> list[Row]:
        checked(result)
        self._loads.set_pgresult(result, set_loaders=False)
        found = self._loads.load_rows(0, result.ntuples, tuple)
        self._loads.set_pgresult(None, set_loaders=False)  # rows are not kept with the statement
        return found

    def _parameters(self, values: Any) -> list[Any]:
        try:
            return [
                None if (value := values[key]) is None else dump(value) for key, dump in self._dumps
            ]
        except struct.error as error:
            raise DataError(str(error)) from error


def name_of(text: bytes, kind: bytes = b"") -> bytes:
    """The name of a statement for all clients of a server connection. `kind` is whatever else makes
    statements differ, such as the types of their parameters."""
    return b"ballast_" + hashlib.sha256(text + b"\0" + kind).hexdigest()[:32].encode()


class DigestNames(PrepareManager):
    """Names psycopg's own prepared statements as ours are named. psycopg would number them, with
    the same numbers in every client."""

    def get(self, query: PostgresQuery, prepare: bool | None = None) -> tuple[Prepare, bytes]:
        """Whether to prepare the query, and under which name."""
        choice, name = super().get(query, prepare)
        if choice is Prepare.SHOULD:
            name = name_of(query.query, repr(query.types).encode())
        return choice, name


def _numbered(statement: str) -> tuple[str, list[str | int]]:
    """The statement with PostgreSQL's parameters in place of psycopg's, and the key of each one's
    value."""
    keys: list[str | int] = []

    def place(match: re.Match[str]) -> str:
        percent, name = match.groups()
        if percent:
            return "%"
        if name is None or name not in keys:
            keys.append(len(keys) if name is None else name)
        return f"${len(keys) if name is None else keys.index(name) + 1}"

    return _PLACE.sub(place, statement), keys


def _dump_of(oid: int, connection: Connection[Any]) -> Callable[[Any], Any]:
    adapters: AdaptersMap = connection.adapters
    for name, integer in _INTEGERS.items():
        if oid == adapters.types[name].oid:
            return integer.pack
    dumper = adapters.get_dumper_by_oid(oid, Format.BINARY)
    return dumper(list, connection).dump  # only arrays ask for the class


def checked(result: PGresult) -> PGresult:
    """`result`, unless it is an error. Raises psycopg's error for it."""
    if result.status != ExecStatus.FATAL_ERROR:
        return result
    if result.error_field(DiagnosticField.SQLSTATE) is None:  # libpq's own: the connection is lost
        raise OperationalError(result.error_message.decode(errors="replace"))
    raise errors.error_from_result(result)
