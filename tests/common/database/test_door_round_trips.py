"""What tells the tenant goes with the first statement that sees it, in one round trip; and whatever
happens to either leaves the connection as it was found (decision 0193)."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

import pytest
from django.conf import settings
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    OperationalError,
    connection,
    transaction,
)
from psycopg.pq import PipelineStatus, TransactionStatus

from balance import services as ledger
from common.engine import sql
from tests.balance.builders import balance_of
from tests.builders import NOW
from tests.common.engine.elsewhere import elsewhere
from tests.common.engine.paths import fast_path_only
from tests.crashes.bomb import end
from tests.database import owner

pytestmark = [fast_path_only, pytest.mark.django_db(transaction=True)]

# One of each is the end of a round trip.
ENDS = ("Sync", "Query")
WHOSE = "SELECT DISTINCT tenant_id FROM funding_fundingtransaction"
TOLD = "SELECT current_setting('ballast.tenant', true)"
HALVED = "SELECT 10 / %(n)s::int"
# Refused when the transaction ends, and not before.
TWICE = "INSERT INTO late SELECT %(n)s::int FROM generate_series(1, 2)"
BLOCKS = pytest.mark.parametrize("block", [transaction.atomic, nullcontext])


@pytest.fixture(params=[True, False], ids=["reads", "writes"])
def request_of_acme(door, acme, request):
    """A request in which the statements of these tests are prepared."""
    with door.open(only_reads=request.param, tenant_id=acme.pk):
        for statement, values in ((WHOSE, {}), (TOLD, {}), (HALVED, {"n": 2})):
            sql.rows(statement, values)
        connection.connection.pgconn.exec_(b"COMMIT")
        yield door


@contextmanager
def round_trips() -> Iterator[list[str]]:
    """Counts those of the block, by libpq's own trace of its messages."""
    found: list[str] = []
    pgconn = connection.connection.pgconn
    with tempfile.TemporaryFile("r") as file:
        pgconn.trace(file.fileno())
        try:
            yield found
        finally:
            pgconn.untrace()
        file.seek(0)
        sent = [line.split("\t") for line in file if "\tF\t" in line]
    found += [fields[3].strip() for fields in sent if fields[3].strip() in ENDS]


def is_clean():
    raw = connection.connection.pgconn
    told = raw.exec_(TOLD.encode()).get_value(0, 0)
    return (
        raw.transaction_status == TransactionStatus.IDLE
        and raw.pipeline_status == PipelineStatus.OFF
        and told in (b"", None)
    )


def _halve_by_zero_and_go_on():
    with suppress(DataError):
        sql.rows(HALVED, {"n": 0})
    sql.rows(WHOSE, {})


def whose():
    return [tenant for (tenant,) in sql.rows(WHOSE, {})]


class TestRoundTrips:
    def test_a_read_is_one(self, request_of_acme, acme):
        with round_trips() as found:
            assert whose() == [acme.pk]

        assert found == ["Sync"]
        assert is_clean()

    def test_a_transaction_has_one_for_its_end_besides(self, request_of_acme, acme):
        with round_trips() as found, transaction.atomic():
            assert whose() == [acme.pk]
            assert sql.rows(TOLD, {}) == [(acme.pk,)]

        assert found == ["Sync", "Sync", "Query"]
        assert is_clean()

    def test_a_posting_has_one_for_its_end_besides(self, door, acme):
        def post(number):
            with transaction.atomic():
                ledger.credit(
                    tenant_id=acme.pk, amount=7, source_type="funding_transaction",
                    source_id=f"ftx_{number}", description="x", now=NOW,
                )  # fmt: skip

        with door.open(only_reads=False, tenant_id=acme.pk):
            for number in range(2):
                post(number)
            with round_trips() as found:
                post(2)

        assert found == ["Sync", "Query"]
        assert balance_of(acme)[0] == 1_021


class TestAnError:
    def test_of_the_statement_leaves_nothing(self, request_of_acme, acme):
        with pytest.raises(DataError, match="division by zero"):
            sql.rows(HALVED, {"n": 0})

        assert is_clean()
        assert whose() == [acme.pk]

    def test_of_the_first_statement_undoes_its_transaction(self, request_of_acme, acme):
        with pytest.raises(DataError, match="division by zero"), transaction.atomic():
            sql.rows(HALVED, {"n": 0})

        assert is_clean()
        with transaction.atomic():
            assert whose() == [acme.pk]

    def test_that_is_passed_over_stores_nothing(self, request_of_acme):
        with pytest.raises(DatabaseError), transaction.atomic():
            _halve_by_zero_and_go_on()

        assert is_clean()

    def test_of_the_transactions_end_is_raised(self, late, acme):
        with late.open(only_reads=False, tenant_id=acme.pk):
            sql.rows("INSERT INTO late VALUES (%(n)s)", {"n": 1})
            for _ in range(2):  # before it is prepared, and after
                with pytest.raises(IntegrityError, match="late"):
                    sql.rows(TWICE, {"n": 2})
                assert is_clean()
            assert sql.rows("SELECT n FROM late", {}) == [(1,)]

    def test_of_the_value_is_raised_before_anything_is_sent(self, request_of_acme, acme):
        with round_trips() as found, pytest.raises(DataError):
            sql.rows(HALVED, {"n": 2**40})

        assert found == []
        assert whose() == [acme.pk]

    @BLOCKS
    def test_of_a_server_that_does_not_know_the_statements_is_none(
        self, request_of_acme, acme, block
    ):
        connection.connection.pgconn.exec_(b"DEALLOCATE ALL")
        with block():
            assert whose() == [acme.pk]

    @BLOCKS
    def test_of_a_table_that_was_changed_is_none(self, late, acme, block):
        other = owner.another_connection()
        with late.open(only_reads=False, tenant_id=acme.pk), other.cursor() as cursor:
            assert sql.rows("SELECT * FROM late", {}) == []
            cursor.execute("ALTER TABLE late ADD COLUMN more int")
            with block():
                assert sql.rows("SELECT * FROM late", {}) == []
        other.close()

    @BLOCKS
    def test_of_a_connection_that_ended_is_an_outage(self, request_of_acme, acme, block):
        end(connection.connection)
        with pytest.raises(OperationalError), block():
            whose()

        connection.close()
        assert whose() == [acme.pk]

    def test_of_whoever_waits_closes_the_connection(self, door, acme):
        """What PostgreSQL says to the next statement would be the answer to this one."""
        slow = "SELECT 'late answer', pg_sleep(%(seconds)s)"
        with door.open(only_reads=False, tenant_id=acme.pk):
            sql.rows(slow, {"seconds": 0.0})
            left = connection.connection.info.backend_pid
            with interrupted(after=0.2), pytest.raises(TimeoutError):
                sql.rows(slow, {"seconds": 10.0})

            assert connection.connection.closed
            connection.close()
            assert whose() == [acme.pk]
        elsewhere("SELECT pg_terminate_backend(%s, 10000)", left)  # it sleeps on


class TestLongValues:
    """Longer than what a socket takes at once."""

    LENGTH = "SELECT length(%(text)s::text)"
    REPEATED = "SELECT repeat('x', %(n)s::int) FROM generate_series(1, 100)"

    def test_arrive(self, request_of_acme):
        for _ in range(2):
            assert sql.rows(self.LENGTH, {"text": "ü" * 10_000_000}) == [(10_000_000,)]

    def test_come_back(self, request_of_acme):
        for _ in range(2):
            assert sql.rows(self.REPEATED, {"n": 50_000}) == [("x" * 50_000,)] * 100


@pytest.fixture
def late(door):
    """The door, and a table whose rows are judged when the transaction ends."""
    elsewhere("CREATE TABLE late (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    elsewhere(f"GRANT SELECT, INSERT ON late TO {settings.DATABASE_API['USER']}")
    yield door
    elsewhere("DROP TABLE late")


@contextmanager
def interrupted(*, after):
    """A signal's handler raises in the block."""

    def interrupt(_number, _frame):
        raise TimeoutError

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
