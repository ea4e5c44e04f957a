"""Planted damage of every kind is found, and named: in the books of money in and of money out."""

from __future__ import annotations

import pytest

from balance import services as ledger
from common.clock import utc_now
from funding.models import SOURCE_TYPE as FUNDING_SOURCE
from payments.models import SOURCE_TYPE as PAYMENT_SOURCE
from payments.services import orders
from tenants.actors import SYSTEM
from tests.builders import make_source
from tests.corruption import found, tamper
from tests.funding import builders as funding
from tests.payments import builders as payments
from tests.transfers.directions import DIRECTIONS


def money_in(tenant):
    """One funding of each end: completed, returned late, returned in transit, still reserved."""
    now = utc_now()
    made = {"completed": funding.top_up(tenant, now=now)}
    for name, number in (("late", "20001"), ("returned", "10001")):
        source = make_source(tenant, account_number=number)
        made[name] = funding.top_up(tenant, source=source, now=now)
    funding.run_due(now=now)
    made["unsent"] = funding.top_up(tenant, source=made["completed"].source, now=now)
    return made


def money_out(tenant):
    """One payment of each end, and one still on its way."""
    now = utc_now()
    payments.fund(tenant, 100_000, now=now)
    numbers = {"completed": "123456", "late": "20002", "returned": "10003"}
    made = {name: payments.pay(tenant, to=number, now=now) for name, number in numbers.items()}
    payments.run_due(now=now)
    made["canceled"] = payments.pay(tenant, now=now)
    orders.cancel(tenant_id=tenant.pk, payment_id=made["canceled"].pk, actor=SYSTEM, now=now)
    made["unsent"] = payments.pay(tenant, now=now)
    made["waiting"] = payments.pay(tenant, 500_000, wait=True, now=now)
    return made


BOOKS = {"in": money_in, "out": money_out}
SOURCE_TYPES = {"in": FUNDING_SOURCE, "out": PAYMENT_SOURCE}
NAMES = {"in": "funding", "out": "payment"}  # what the codes of findings begin with
ANOTHER_AMOUNT = "UPDATE {table} SET amount = amount + 1 WHERE id = '{completed}'"
BOTH = [
    (
        "UPDATE webhooks_webhookevent SET type = 'payment.failed'"
        " WHERE payment_id = '{returned}' AND type = 'payment.returned'",
        {"events"},
    ),
]
DAMAGE = {
    "in": [
        *BOTH,
        (ANOTHER_AMOUNT, {"postings", "books", "messages", "event_body", "bank"}),
        ("UPDATE balance SET pending = pending + 1", {"pending"}),
        (
            "UPDATE {table} SET status = 'completed', completed_at = now() WHERE id = '{unsent}'",
            {"pending", "postings", "books", "history", "messages"},
        ),
        (
            "UPDATE {table} SET completed_at = NULL WHERE id = '{late}'",
            {"postings", "books", "dates", "messages"},
        ),
        (
            "DELETE FROM funding_fundingevent WHERE funding_id = '{completed}' AND sequence = 2",
            {"history", "events"},
        ),
        (
            "UPDATE funding_fundingevent SET from_status = 'failed'"
            " WHERE funding_id = '{completed}' AND sequence = 3",
            {"history"},
        ),
    ],
    "out": [
        *BOTH,
        (ANOTHER_AMOUNT, {"postings", "books", "messages", "event_body", "bank", "total"}),
        (
            "UPDATE {table} SET status = 'waiting_for_funds', locked_at = NULL,"
            " next_attempt_at = NULL, waits_until = now(), waiting_for_funds_at = now()"
            " WHERE id = '{unsent}'",
            {"locked", "postings", "history", "dates"},
        ),
        (
            "UPDATE {table} SET status = 'created', locked_at = now() WHERE id = '{waiting}'",
            {"locked", "postings", "history", "never_due"},
        ),
        (
            "UPDATE {table} SET status = 'completed', returned = false, returned_at = NULL"
            " WHERE id = '{late}'",
            {"postings", "books", "history", "dates", "messages", "total"},
        ),
        (
            "UPDATE payments_paymentevent SET to_status = 'failed'"
            " WHERE payment_id = '{completed}' AND sequence = 2",
            {"history", "dates", "events"},
        ),
        (
            "DELETE FROM webhooks_webhookevent"
            " WHERE payment_id = '{canceled}' AND type = 'payment.failed'",
            {"events"},
        ),
    ],
}


def table_of(direction):
    return DIRECTIONS[direction].transfer.model._meta.db_table


@pytest.mark.parametrize("direction", BOOKS)
def test_nothing_is_found_in_clean_books(acme, direction):
    BOOKS[direction](acme)

    assert found(full=False) == found(full=True) == set()


@pytest.mark.parametrize(
    ("direction", "damage", "codes"),
    [(direction, *case) for direction, cases in DAMAGE.items() for case in cases],
)
def test_damage_is_found(acme, direction, damage, codes):
    keys = {name: transfer.pk for name, transfer in BOOKS[direction](acme).items()}

    tamper(damage.format(table=table_of(direction), **keys))

    expected = {f"{NAMES[direction]}_{code}" for code in codes}
    assert found(full=False) == found(full=True) == expected


@pytest.mark.parametrize("direction", BOOKS)
def test_a_posting_without_its_transfer_is_found(acme, direction):
    ledger.credit(
        tenant_id=acme.pk,
        amount=5,
        source_type=SOURCE_TYPES[direction],
        source_id="nowhere",
        description="",
        now=utc_now(),
    )

    assert found(full=True) == {f"{NAMES[direction]}_posting_orphan", "books_clearing"}


@pytest.mark.parametrize("direction", BOOKS)
def test_one_tenants_damage_is_not_another_ones(acme, rival, direction):
    unsent = BOOKS[direction](acme)["unsent"]

    tamper(f"UPDATE {table_of(direction)} SET amount = 1 WHERE id = '{unsent.pk}'")

    assert found(tenant_id=rival.pk) == set()
    assert found(tenant_id=acme.pk) != set()
