"""What a file of many returns asks for is found by index, however many entries and records there
are."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from networks.ach.inbound import matching, reading
from networks.ach.models import InRecord
from tests.networks.ach.inbound.builders import (
    NOW,
    RAIL,
    answer_batch,
    answer_file,
    make_batch,
    make_entry,
    make_rail,
    returned,
    store,
)

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 120  # of up to a hundred values PostgreSQL itself sees that none is empty


def plan(asked, table, column):
    """Of the query that looked for many values of this column, where it must use an index."""
    (sql,) = [
        each["sql"]
        for each in asked.captured_queries
        if each["sql"].startswith("SELECT") and f'"{table}"."{column}" = ANY(' in each["sql"]
    ]
    with connection.cursor() as cursor:
        # A small table would be scanned, or read in the order of its ids.
        cursor.execute("SET enable_seqscan = off; SET enable_indexscan = off")
        cursor.execute(f"EXPLAIN {sql}")
        found = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("RESET enable_seqscan; RESET enable_indexscan")
    return found


def test_entries_and_records_are_found_by_their_traces():
    batch = make_batch(make_rail())
    entries = [make_entry(batch, number) for number in range(1, MANY + 1)]
    lines = [line for entry in entries for line in returned(entry)]
    with CaptureQueriesContext(connection) as asked:
        store(answer_file(answer_batch(*lines)))
        reading.read_due(now=NOW)

    records = InRecord.objects.all()
    assert set(records.values_list("status", flat=True)) == {"applied"}
    assert len(matching.candidates(records, rail_id=RAIL)) == MANY
    assert "ach_entry_trace" in plan(asked, "ach_achentry", "trace_number")
    assert "one_record_per_rdfi_trace" in plan(asked, "ach_inrecord", "rdfi_trace")
