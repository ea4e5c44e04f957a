"""Matching looks at each line a few times, however wrong the planner is about how many there are.

No table has statistics here, as where a bank's first statements have just been taken.
"""

from __future__ import annotations

import pytest
from django.db import connection

from networks.ach import references
from reconciliation import booking
from reconciliation.matching import running
from reconciliation.models import ExpectedLine, MatchedLine
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.banking import Posted, state
from tests.reconciliation.statements import MONDAY, NOW
from tests.reconciliation.transfers import batch_of

pytestmark = pytest.mark.django_db

BATCHES, EACH, RETURNS, UNKNOWN = 200, 2, 50, 50
LINES = BATCHES * (1 + EACH) + 2 * RETURNS + UNKNOWN  # of the bank and of the books
TIMES = 4


@pytest.fixture
def day(rail, account):
    """A statement that quotes each batch, names each return, and has credits that nobody knows."""
    file = batch_of(rail).file
    batches = [batch_of(rail, number=number, file=file) for number in range(2, BATCHES + 2)]
    entries = [
        _expected(place * EACH + number, batch=batch.pk, file=file.pk)
        for place, batch in enumerate(batches)
        for number in range(EACH)
    ]
    returns = [
        _expected(10_000 + number, step="in_returned", amount=-70, trace=_trace(number))
        for number in range(RETURNS)
    ]
    ExpectedLine.objects.bulk_create([*entries, *returns])
    state(
        *(Posted(EACH * 70, references.of_batch(batch)) for batch in batches),
        *(Posted(-70, _trace(number), kind="return") for number in range(RETURNS)),
        *(Posted(1, kind="credit") for _ in range(UNKNOWN)),
    )


def _trace(number):
    return f"2{number:014}"


def _expected(line, *, step="in_settled", amount=70, **columns):
    return ExpectedLine(
        line=1_000_000 + line,
        rail_id=RAIL,
        step=step,
        amount=amount,
        counts_on=MONDAY,
        taken_at=NOW,
        **columns,
    )


def test_no_statement_compares_each_line_with_each(day):
    looked_at: dict[int, float] = {}

    def explain(execute, statement, values, many, context):
        if not statement.startswith("WITH"):
            return execute(statement, values, many, context)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
            (((plan,),),) = cursor.fetchall()
        looked_at[len(looked_at)] = most_rows(plan["Plan"])
        return execute(f"SELECT {LINES}", None, many, context)

    with connection.execute_wrapper(explain):
        running.run(RAIL, now=NOW)

    assert MatchedLine.objects.count() == BATCHES + RETURNS
    assert max(looked_at.values()) < TIMES * LINES, looked_at


def most_rows(node):
    """How many rows one step of a plan looked at, at the most."""
    passed = ("Actual Rows", "Rows Removed by Join Filter", "Rows Removed by Filter")
    here = sum(node.get(name, 0) for name in passed) * node["Actual Loops"]
    return max([here, *map(most_rows, node.get("Plans", ()))])


def test_lines_are_booked_in_a_few_statements(day, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        assert booking.book_open(RAIL, None, now=NOW) == UNKNOWN
