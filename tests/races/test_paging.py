"""Page 1 to 100 of 10,000 rows while 50 more a second arrive: none twice, none left out."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection

from common import ids
from common.clock import utc_now
from funding.models import FundingTransaction
from tests.builders import NOW, ApiClient, make_funding, make_key, make_source, make_tenant
from tests.database import owner
from tests.payments.builders import fund

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

ROWS, PER_SECOND, PAGE = 10_000, 50, 100
SHORTEST_WALK_SECONDS = 5.0


class Writer:
    """Calls `insert` 50 times a second, in a thread of its own, as long as the block runs."""

    def __init__(self, insert):
        self.insert, self.inserted = insert, 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()

    def _run(self):
        began = time.monotonic()
        try:
            while not self._ends.wait(began + self.inserted / PER_SECOND - time.monotonic()):
                self.insert()
                self.inserted += 1
        finally:
            connection.close()


def walk(api, path):
    """Every row of every page, in no less than five seconds."""
    rows, parameters, began = [], {"limit": str(PAGE)}, time.monotonic()
    while True:
        page = api.get(path, parameters).json()
        rows += page["data"]
        if not page["hasMore"]:
            return rows
        parameters["cursor"] = page["nextCursor"]
        share = len(rows) / ROWS
        time.sleep(max(0, began + share * SHORTEST_WALK_SECONDS - time.monotonic()))


def write_statement(tenant):
    """10,000 credits of a cent, ten to a microsecond, and the balance they lead to."""
    fund(tenant, 1, now=NOW)  # makes the balance
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO balance_transaction (id, tenant_id, sequence, type, amount, currency,
                available_delta, locked_delta, available_after, locked_after,
                source_type, source_id, description, created_at)
            SELECT 'btx_' || n, %s, n, 'credit', 1, 'USD', 1, 0, n, 0, 'adjustment', 'adj_' || n,
                'history', %s + (n / 10) * interval '1 microsecond'
            FROM generate_series(2, %s) AS n
            """,
            [tenant.pk, NOW, ROWS],
        )
        cursor.execute(
            "UPDATE balance SET available = %s, sequence = %s WHERE tenant_id = %s",
            [ROWS, ROWS, tenant.pk],
        )


def test_statement():
    tenant = make_tenant()
    write_statement(tenant)

    with Writer(lambda: fund(tenant, 1, now=utc_now())) as writer:
        rows = walk(ApiClient(make_key(tenant)), "/api/v1/balance/transactions")

    assert writer.inserted >= 100
    assert [row["id"] for row in rows[-ROWS:-1]] == [f"btx_{n}" for n in range(ROWS, 1, -1)]
    assert len({row["id"] for row in rows}) == len(rows)
    for newer, older in pairwise(rows):  # each line explains the next: nothing is between them
        before = newer["balanceAfter"]["availableBalance"] - newer["availableDelta"]
        assert before == older["balanceAfter"]["availableBalance"]


def test_funding_transactions_with_ties():
    tenant = make_tenant()
    source = make_source(tenant)
    pattern = make_funding(tenant, source)
    made = [ids.new("ftx") for _ in range(ROWS - 1)]
    FundingTransaction.objects.bulk_create(
        _copy(pattern, id=id, created_at=NOW + timedelta(microseconds=number // 10))
        for number, id in enumerate(made)
    )

    def insert():
        make_funding(tenant, source, created_at=utc_now())

    with Writer(insert) as writer:
        rows = walk(ApiClient(make_key(tenant)), "/api/v1/funding/transactions")

    assert writer.inserted >= 100
    expected = {pattern.pk, *made}
    assert sorted(row["id"] for row in rows if row["id"] in expected) == sorted(expected)
    positions = [(row["createdAt"], row["id"]) for row in rows]
    assert all(newer > older for newer, older in pairwise(positions))


def _copy(pattern, **changes):
    fields = {field.attname: getattr(pattern, field.attname) for field in pattern._meta.fields}
    return FundingTransaction(**(fields | changes))
