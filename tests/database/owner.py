"""What the application's role may not do, for tests that have to.

Tests work as that role: they log in as a superuser whose sessions start with `SET ROLE`, so that
one and the same transaction can change hats. A process of the product that a test starts logs in
as the role itself (`address`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlencode

from django.conf import settings
from django.db import Error as DatabaseProblem
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.pq import TransactionStatus

from common.database import grants
from common.database.job_rights import needs_of
from tests.settings import TEST_OWNER_ROLE, TEST_SUPERUSER


@contextmanager
def as_owner() -> Iterator[None]:
    """As the owner of the tables, who migrates them: no grant binds it, triggers do."""
    with _as(TEST_OWNER_ROLE):
        yield


@contextmanager
def as_superuser(*, triggers: bool = True) -> Iterator[None]:
    """As the server's superuser; without `triggers` nothing at all is refused."""
    with _as(TEST_SUPERUSER):
        if triggers:
            yield
            return
        with _set("SET session_replication_role = replica", "RESET session_replication_role"):
            yield


@contextmanager
def _as(role: str) -> Iterator[None]:
    # To be reset to what the session started with.
    with _set(f"SET ROLE {connection.ops.quote_name(role)}", "RESET ROLE"):
        yield


@contextmanager
def _set(begin: str, end: str) -> Iterator[None]:
    """A transaction that failed forgets what was set in it."""
    _run(begin)
    try:
        yield
    finally:
        if connection.connection is not None and not _is_broken():
            _run(end)


def another_connection() -> BaseDatabaseWrapper:
    """A superuser's, beside ours; whoever asks closes it."""
    other: BaseDatabaseWrapper = connection.copy()
    _forget_role(other)
    return other


def address() -> str:
    """The test database's URL for a process of the product, which logs in as the application."""
    found = connection.settings_dict
    host = urlencode({"host": found["HOST"] or found["OPTIONS"].get("host", "")})
    return f"postgresql://{settings.DATABASE_APPLICATION_ROLE}@/{found['NAME']}?{host}"


def hand_over() -> None:
    """Make a database that a superuser copied the owner's, and give the application its grants."""
    name, owner = connection.settings_dict["NAME"], TEST_OWNER_ROLE
    quote = connection.ops.quote_name
    _run(f"ALTER DATABASE {quote(name)} OWNER TO {quote(owner)}")
    application = settings.DATABASE_APPLICATION_ROLE
    grants.grant(application)
    with as_owner():
        grants.build_walls(application, settings.DATABASE_API["USER"])
    for job, login in settings.DATABASE_JOBS.items():
        grants.grant(login["USER"], needs=needs_of(job))


@contextmanager
def as_application() -> Iterator[None]:
    """As somebody of another process, in the midst of a job's work."""
    usual = _told("SELECT current_user")
    _told(f"SET ROLE {settings.DATABASE_APPLICATION_ROLE}")
    try:
        yield
    finally:
        _told(f"SET ROLE {usual}")


class ApiByRole:
    """The API's role in the connection of the test, whose transaction no other connection sees."""

    @contextmanager
    def open(self, *, only_reads: bool, tenant_id: str | None = None) -> Iterator[None]:
        if not _is_reachable():
            yield
            return
        usual = _told("SELECT current_user")
        _told(f"SET ROLE {settings.DATABASE_API['USER']}; SET ballast.tenant = '{tenant_id or ''}'")
        try:
            yield
        finally:
            _told(f"SET ROLE {usual}; SET ballast.tenant = ''")

    def see(self, tenant_id: str) -> None:
        _told(f"SET ballast.tenant = '{tenant_id}'")


class JobByRole:
    """The role of a job in the connection of the test, likewise."""

    @contextmanager
    def open(self, job: str) -> Iterator[None]:
        login = settings.DATABASE_JOBS.get(job)
        if login is None or not _is_reachable():
            yield
            return
        _begin()
        usual = _told("SELECT current_user")
        if usual not in _roles_of_the_product():
            yield
            return
        _told(f"SET ROLE {login['USER']}")
        try:
            yield
        finally:
            _told(f"SET ROLE {usual}")

    @contextmanager
    def outside(self) -> Iterator[None]:
        if not _is_reachable() or _told("SELECT current_user") not in _roles_of_the_product():
            yield
            return
        with as_application():
            yield

    def close(self) -> None:
        """Do nothing: there is no other connection."""


def _begin() -> None:
    """The transaction that a block has announced: a role set before it would outlive its end."""
    if connection.in_atomic_block and _status() == TransactionStatus.IDLE:
        _told("BEGIN")


def _roles_of_the_product() -> set[str]:
    """But for the API's, which sees one tenant and stays."""
    jobs = {str(login["USER"]) for login in settings.DATABASE_JOBS.values()}
    return {str(settings.DATABASE_APPLICATION_ROLE), *jobs}


def _is_reachable() -> bool:
    """Whether there is a server to ask; if not, the request says so."""
    with suppress(DatabaseProblem):
        connection.ensure_connection()
        return True
    return False


def _told(statement: str) -> str:
    """What the server answers, beside what counts queries; nothing if the transaction is broken."""
    if connection.connection is None or _is_broken():
        return str(settings.DATABASE_APPLICATION_ROLE)
    result = connection.connection.pgconn.exec_(statement.encode())
    return (result.get_value(0, 0) or b"").decode() if result.ntuples else ""


def work_as_application() -> None:
    """From the next connection on."""
    connection.close()
    options = connection.settings_dict["OPTIONS"]
    options["options"] += f" -c role={settings.DATABASE_APPLICATION_ROLE}"


def work_as_superuser() -> None:
    """From the next connection on."""
    connection.close()
    _forget_role(connection)


def _forget_role(used: BaseDatabaseWrapper) -> None:
    options = used.settings_dict["OPTIONS"]
    options["options"] = options["options"].partition(" -c role=")[0]


def _is_broken() -> bool:
    return _status() in {TransactionStatus.INERROR, TransactionStatus.UNKNOWN}


def _status() -> TransactionStatus:
    return TransactionStatus(connection.connection.info.transaction_status)


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
