"""Planted damage of every kind is found, and named."""

from __future__ import annotations

import pytest

from balance import services as ledger
from common.clock import utc_now
from payments.models import SOURCE_TYPE
from payments.services import orders
from tenants.actors import SYSTEM
from tests.corruption import found, tamper
from tests.payments.builders import fund, pay, run_due


@pytest.fixture
def books(acme):
    """One payment of each end, and one still on its way."""
    now = utc_now()
    fund(acme, 100_000, now=now)
    numbers = {"completed": "123456", "late": "20002", "in_transit": "10003"}
    made = {name: pay(acme, to=number, now=now) for name, number in numbers.items()}
    run_due(now=now)
    made["canceled"] = pay(acme, now=now)
    orders.cancel(tenant_id=acme.pk, payment_id=made["canceled"].pk, actor=SYSTEM, now=now)
    made["created"] = pay(acme, now=now)
    made["waiting"] = pay(acme, 500_000, wait=True, now=now)
    return made


def test_nothing_is_found_in_clean_books(books):
    assert found(full=False) == found(full=True) == set()


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        (
            "UPDATE payments_payment SET status = 'waiting_for_funds', locked_at = NULL,"
            " next_attempt_at = NULL, waits_until = now(), waiting_for_funds_at = now()"
            " WHERE id = '{created}'",
            {"payment_locked", "payment_postings", "payment_history", "payment_dates"},
        ),
        (
            "UPDATE payments_payment SET status = 'created', locked_at = now()"
            " WHERE id = '{waiting}'",
            {"payment_locked", "payment_postings", "payment_history", "payment_never_due"},
        ),
        (
            "UPDATE payments_payment SET amount = amount + 1 WHERE id = '{completed}'",
            {"payment_postings", "payment_messages", "payment_event_body", "payment_bank"},
        ),
        (
            "UPDATE payments_payment SET status = 'completed', returned = false,"
            " returned_at = NULL WHERE id = '{late}'",
            {"payment_postings", "payment_history", "payment_dates", "payment_messages"},
        ),
        (
            "UPDATE payments_paymentevent SET to_status = 'failed'"
            " WHERE payment_id = '{completed}' AND sequence = 2",
            {"payment_history", "payment_dates", "payment_events"},
        ),
        (
            "DELETE FROM webhooks_webhookevent"
            " WHERE payment_id = '{canceled}' AND type = 'payment.failed'",
            {"payment_events"},
        ),
        (
            "UPDATE webhooks_webhookevent SET type = 'payment.failed'"
            " WHERE payment_id = '{in_transit}' AND type = 'payment.returned'",
            {"payment_events"},
        ),
    ],
)
def test_damage_is_found(books, damage, codes):
    tamper(damage.format(**{name: payment.pk for name, payment in books.items()}))

    assert found(full=False) == found(full=True) == codes


def test_a_posting_without_a_payment_is_found(acme):
    ledger.credit(
        tenant_id=acme.pk,
        amount=5,
        source_type=SOURCE_TYPE,
        source_id="pay_nowhere",
        description="",
        now=utc_now(),
    )

    assert found(full=True) == {"payment_posting_orphan"}


def test_one_tenants_damage_is_not_another_ones(books, rival):
    tamper(f"UPDATE payments_payment SET amount = 1 WHERE id = '{books['created'].pk}'")

    assert found(tenant_id=rival.pk) == set()
