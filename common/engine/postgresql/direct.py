"""Statements are given to libpq itself: there is no cursor, they are prepared once per connection,
and their types are known from then on.

psycopg's cursor finds out at every call what libpq needs to know, at three times the cost of
libpq's own work (decision 0082). These calls wait in libpq without the interpreter's lock. A signal
handler runs only when the statement is over; the timeouts of statement and lock bound that.

A prepared statement is named by a digest of its text. Behind a pooler that gives one server
connection to several clients, a name then means the same text for all of them (decision 0121).
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from psycopg import Connection, errors
from psycopg import Error as PsycopgError
from psycopg._preparing import Prepare, PrepareManager
from psycopg._queries import PostgresQuery
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.errors import DataError, OperationalError
from psycopg.pq import DiagnosticField, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult

Row = tuple[Any, ...]
Values = Mapping[str, Any] | Sequence[Any]

PREPARED_MAX = 200

_LOOK = b"SELECT FROM pg_prepared_statements WHERE name = $1"
_ID = re.compile(r"[A-Za-z0-9_]{1,64}")
_PLACE = re.compile(r"%(?:(%)|(?:\((\w+)\))?s)")
_OUTDATED = (errors.FeatureNotSupported, errors.InvalidSqlStatementName)
# psycopg's own dumpers for the smaller two silently cut off numbers that are too large.
_INTEGERS = {"int2": struct.Struct("!h"), "int4": struct.Struct("!i"), "int8": struct.Struct("!q")}


class Direct:
    """The prepared statements of one connection, and the commands of its transactions."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._prepared: dict[str, _Prepared] = {}
        self._has_ended_early = False
        self._stale: set[str] = set()  # whose plan the server may still keep, from before a change
        self._tenant: str | None = None
        self._keeps = False
        self._begin_text = b"BEGIN"

    def see(self, tenant: str | None, *, keeps: bool) -> None:
        """Show the rows of `tenant` alone, whose id PostgreSQL is told with each BEGIN; or, if
        None, what the role sees without one.

        A statement outside of a transaction gets one of its own, or, with `keeps`, one with those
        that follow. Raises ValueError for what is no id.
        """
        if tenant is not None and not _ID.fullmatch(tenant):
            raise ValueError("This is no id of a tenant.")
        self.end_kept()
        self._tenant, self._keeps = tenant, keeps
        told = f"; SET LOCAL ballast.tenant = '{tenant}'" if tenant else ""
        self._begin_text = f"BEGIN{told}".encode()

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
        with self.walled():
            return self._rows(statement, values)

    def _rows(self, statement: str, values: Values) -> list[Row]:
        has_begun = self._begin() or self._connection.autocommit
        try:
            return (self._prepared.get(statement) or self._prepare(statement)).rows(values)
        except _OUTDATED as error:
            if isinstance(error, errors.FeatureNotSupported):
                self._stale |= self._prepared.keys()
            self.forget()
            if has_begun and isinstance(error, errors.InvalidSqlStatementName):
                self.end(b"ROLLBACK")
                self._begin()
            elif self._pgconn.transaction_status != TransactionStatus.IDLE:
                raise
            return self._prepare(statement).rows(values)

    def forget(self) -> None:
        """Forget the prepared statements, so that each is prepared again."""
        self._prepared.clear()

    def command(self, text: str) -> None:
        """Run a command of the transaction, such as SAVEPOINT. Statements stay prepared."""
        self._begin()
        _checked(self._pgconn.exec_(text.encode()))

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
        result = _checked(self._pgconn.exec_(command))
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
        _checked(self._pgconn.exec_(self._begin_text))
        return True

    def _prepare(self, statement: str) -> _Prepared:
        if len(self._prepared) >= PREPARED_MAX:
            oldest = self._prepared.pop(next(iter(self._prepared)))
            _checked(self._pgconn.close_prepared(oldest.name))
        anew = statement in self._stale
        prepared = self._prepared[statement] = _Prepared(self._connection, statement, anew=anew)
        self._stale.discard(statement)
        return prepared


class _Prepared:
    """A prepared statement of one connection. PostgreSQL says which types it takes and returns."""

    def __init__(self, connection: Connection[Any], statement: str, *, anew: bool) -> None:
        text, keys = _numbered(statement)
        self.name = name_of(text.encode())
        self._pgconn = connection.pgconn
        self._make(text.encode(), anew=anew)
        known = _checked(self._pgconn.describe_prepared(self.name))
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
        if _checked(self._pgconn.exec_params(_LOOK, [self.name])).ntuples:
            if not anew:
                return
            _checked(self._pgconn.exec_(b"DEALLOCATE " + self.name))
        try:
            _checked(self._pgconn.prepare(self.name, text))
        except errors.DuplicatePreparedStatement:
            # The pooler looked on one server connection and prepared on another. The text is the
            # same.
            if self._pgconn.transaction_status != TransactionStatus.IDLE:
                raise

    def rows(self, values: Values) -> list[Row]:
        given = self._parameters(values)
        result = self._pgconn.exec_prepared(self.name, given, self._formats, Format.BINARY)
        _checked(result)
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


def _checked(result: PGresult) -> PGresult:
    """`result`, unless it is an error. Raises psycopg's error for it."""
    if result.status != ExecStatus.FATAL_ERROR:
        return result
    if result.error_field(DiagnosticField.SQLSTATE) is None:  # libpq's own: the connection is lost
        raise OperationalError(result.error_message.decode(errors="replace"))
    raise errors.error_from_result(result)
