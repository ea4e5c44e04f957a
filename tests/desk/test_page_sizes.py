"""Every list of the desk stays small: at most 60 KB of HTML with fifty rows."""

from __future__ import annotations

import re

import pytest

from tests.balance.builders import fund
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
)
from tests.desk.test_lists import EVERY, label
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import pay
from tests.payments.builders import run_due as run_payments

ROWS = 50
BYTES_MAX = 60_000
CELL = 70  # bytes of a cell, on the average, in a list of which nobody makes a row here
ROW = re.compile(rb"<tr><td.*?</tr>|<tr><th scope=.row.*?</tr>", re.DOTALL)


@pytest.fixture
def busy(acme):
    """Fifty rows of what moves money and of what tells of it, and one or more of most others."""
    source = make_source(acme)
    make_endpoint(acme)
    make_member(acme, email="dana.featherstonehaugh@acme.example")
    make_key(acme)
    make_auto_funding(acme, enabled=False)
    fund(acme, 10_000_000)
    top_up(acme, source=source)
    for number in range(ROWS):
        make_funding(acme, source, amount=123_456 + number, held_at=NOW, hold_reason="A look")
        pay(acme, 1_000 + number)
    run_funding()
    run_payments()
    return acme


def size_of(page, columns):
    """Bytes of the list if it had fifty rows, each as long as the longest that is there."""
    rows = ROW.findall(page)
    longest = max(map(len, rows)) if rows else CELL * columns
    return len(page) - sum(map(len, rows)) + ROWS * longest, len(rows)


def test_fifty_rows_of_any_list_take_at_most_60_kb(desk, busy):
    sizes, full = {}, set()
    for model in EVERY:
        answer = desk.get(f"/admin/{label(model).replace('.', '/')}/")
        columns = len(answer.context["cl"].list_display)
        sizes[label(model)], rows = size_of(answer.content, columns)
        full |= {label(model)} if rows == ROWS else set()

    assert {name: size for name, size in sizes.items() if size > BYTES_MAX} == {}
    assert {
        "balance.balancetransaction",
        "funding.fundingtransaction",
        "network_inbox.inboundevent",
        "payments.payment",
        "webhooks.webhookdelivery",
        "webhooks.webhookevent",
    } <= full
