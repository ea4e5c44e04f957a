"""The figures of the home read indexes and windows, never a table that grows for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from balance import figures as ledger
from common import queues
from common.clock import utc_now
from desk.home.attention import of_ach
from funding import figures as funding
from networks.instant import figures as instant
from payments import figures as payments
from webhooks import figures as webhooks

NOW = utc_now()
TODAY = NOW - timedelta(hours=12)
# One row per endpoint, process, rail or stream: reading them all is what the figure is about.
SHORT = (
    "on webhooks_webhookendpoint",
    "on webhooks_dispatcherheartbeat",
    "on ach_railline",
    "on instant_instantline",
    "on seals_auditstream",
)

FIGURES = {
    "funding in flight": funding.in_flight,
    "funding failed": lambda: funding.failures(since=TODAY),
    "funding sent": lambda: funding.sent_by_day(since=TODAY),
    "return rates": lambda: funding.debit_returns(now=NOW),
    "tenants with most returns": lambda: funding.worst_debit_returns(now=NOW, limit=5),
    "payments in flight": payments.in_flight,
    "payments failed": lambda: payments.failures(since=TODAY),
    "payments sent": lambda: payments.sent_by_day(since=TODAY),
    "webhooks": lambda: webhooks.health(now=NOW),
    "queues": lambda: queues.states(now=NOW),
    "ledger totals": ledger.totals,
    "last check": ledger.last_check,
    "files and exceptions": lambda: list(of_ach(now=NOW)),
    "instant networks": instant.waiting,
}


def whole_tables_read(figure):
    """The tables that PostgreSQL can read in no other way than from end to end."""
    with CaptureQueriesContext(connection) as captured:
        figure()
    lines = []
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for query in captured:
            cursor.execute("EXPLAIN " + query["sql"])
            lines += [line for (line,) in cursor.fetchall() if "Seq Scan" in line]
    return [line for line in lines if not any(table in f"{line} " for table in SHORT)]


@pytest.mark.parametrize("name", FIGURES)
def test_reads_no_table_from_end_to_end(db, name):
    assert whole_tables_read(FIGURES[name]) == []
