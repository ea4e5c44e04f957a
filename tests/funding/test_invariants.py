"""Planted damage of every kind is found, and named."""

from __future__ import annotations

import pytest

from balance import services as ledger
from common.clock import utc_now
from funding.models import SOURCE_TYPE
from tests.builders import make_source
from tests.corruption import found, tamper
from tests.funding.builders import run_due, top_up


@pytest.fixture
def books(acme):
    """One funding of each end: completed, returned late, returned in transit, still reserved."""
    now = utc_now()
    made = {"completed": top_up(acme, now=now)}
    for name, number in (("late", "20001"), ("returned", "10001")):
        made[name] = top_up(acme, source=make_source(acme, account_number=number), now=now)
    run_due(now=now)
    made["reserved"] = top_up(acme, source=made["completed"].source, now=now)
    return made


def test_nothing_is_found_in_clean_books(books):
    assert found(full=False) == found(full=True) == set()


@pytest.mark.parametrize(
    ("damage", "codes"),
    [
        ("UPDATE balance SET pending = pending + 1", {"funding_pending"}),
        (
            "UPDATE funding_fundingtransaction SET status = 'completed', completed_at = now()"
            " WHERE id = '{reserved}'",
            {"funding_pending", "funding_postings", "funding_history", "funding_messages"},
        ),
        (
            "UPDATE funding_fundingtransaction SET amount = amount + 1 WHERE id = '{completed}'",
            {"funding_postings", "funding_messages", "funding_event_body", "funding_bank"},
        ),
        (
            "UPDATE funding_fundingtransaction SET completed_at = NULL WHERE id = '{late}'",
            {"funding_postings", "funding_dates", "funding_messages"},
        ),
        (
            "DELETE FROM funding_fundingevent WHERE funding_id = '{completed}' AND sequence = 2",
            {"funding_history", "funding_events"},
        ),
        (
            "UPDATE funding_fundingevent SET from_status = 'failed'"
            " WHERE funding_id = '{completed}' AND sequence = 3",
            {"funding_history"},
        ),
        (
            "UPDATE webhooks_webhookevent SET type = 'payment.failed'"
            " WHERE payment_id = '{returned}' AND type = 'payment.returned'",
            {"funding_events"},
        ),
    ],
)
def test_damage_is_found(books, damage, codes):
    tamper(damage.format(**{name: funding.pk for name, funding in books.items()}))

    assert found(full=False) == found(full=True) == codes


def test_a_posting_without_a_funding_is_found(acme):
    ledger.credit(
        tenant_id=acme.pk,
        amount=5,
        source_type=SOURCE_TYPE,
        source_id="ftx_nowhere",
        description="",
        now=utc_now(),
    )

    assert found(full=True) == {"funding_posting_orphan"}


def test_one_tenants_damage_is_not_another_ones(books, rival):
    tamper("UPDATE balance SET pending = pending + 1")

    assert found(tenant_id=rival.pk) == set()
