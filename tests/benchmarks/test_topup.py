from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
import pytest

from benchmarks import counters, database, seeding, stream, topup
from benchmarks.counters import Counts
from benchmarks.errors import CannotMeasure
from benchmarks.stream import Stream
from benchmarks.topup import Sample
from common import ids
from tests.database import owner
from tests.funding.builders import top_up

LIMIT = "INSERT INTO funding_fundinglimit (id, tenant_id) VALUES (%s, %s)"


@contextmanager
def a_server(*, status: int) -> Iterator[tuple[int, Counter[str]]]:
    """One that answers each POST with this status: its port, and how often each key asked."""
    asked: Counter[str] = Counter()

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            asked[self.headers["Authorization"]] += 1
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port, asked
        server.shutdown()


def _of_counting() -> list[str]:
    """What the database sets for sessions to come, of what counts statements."""
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT unnest(setconfig) FROM pg_db_role_setting JOIN pg_database AS d"
            " ON d.oid = setdatabase WHERE datname = current_database()"
        )
        return [text for (text,) in cursor.fetchall() if "pg_stat" in text or "query_id" in text]


@pytest.mark.django_db(transaction=True)
def test_statements_of_the_product_are_counted_and_the_benchs_are_not(acme, tmp_path):
    with owner.as_superuser(), counters.counting():
        before = counters.counts()
        with psycopg.connect(owner.address()) as product:
            product.execute(LIMIT, [ids.new("lim"), acme.pk])
        found = counters.counts() - before
        counters.write_statements(tmp_path / "list", each=0.5)

    # BEGIN, INSERT, COMMIT; the tenant
    assert (found.sent, found.checks, found.inside) == (3, 1, 0)
    assert found.statements == 4
    assert found.wal_bytes > 0
    inserts = [line for line in (tmp_path / "list").read_text().splitlines() if "INSERT" in line]
    assert [line.split()[:2] for line in inserts] == [["2.000", "sent"]]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_counted_before_and_after(acme):
    with owner.as_superuser():
        with counters.counting():
            pass
        assert _of_counting() == []


def test_each_piece_of_work_has_its_share():
    earlier, later = (Counts(*([number] * 11)) for number in (1.0, 7.0))
    found = topup._each(
        topup._difference(Sample(earlier, {"web": 0.5}), Sample(later, {"web": 2.0})), 3
    )

    assert found == Sample(Counts(*([2.0] * 11)), {"web": 500.0})


def test_a_stream_keeps_its_pace_and_takes_the_customers_in_turn(db):
    customers = [seeding.customer() for _ in range(3)]
    with a_server(status=201) as (port, asked):
        topups = Stream(port, customers, 30)
        begun = time.monotonic()
        with topups.running():
            while topups.accepted < 28 and time.monotonic() < begun + 30:
                time.sleep(0.01)
        seconds = time.monotonic() - begun

    assert 28 <= topups.accepted <= 30 * seconds + 1  # a busy machine falls behind, and goes on
    assert topups.accepted == asked.total()
    assert set(asked) == {f"Bearer {each.key}" for each in customers}
    assert max(asked.values()) - min(asked.values()) <= 1


def test_a_refused_top_up_is_no_figure(db):
    with (
        a_server(status=403) as (port, _),
        pytest.raises(CannotMeasure, match="was answered 403"),
        Stream(port, [seeding.customer()], 30).running(),
    ):
        time.sleep(0.2)


def test_top_ups_that_do_not_end_are_no_figure(db, acme):
    top_up(acme)

    with pytest.raises(CannotMeasure, match="1 top-ups and deliveries were not over"):
        stream.await_end(seconds=0)
