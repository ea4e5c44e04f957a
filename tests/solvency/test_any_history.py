"""After any history of what banks say, both sides of a proof are equal: what lies at the bank, and
what is owed."""

from __future__ import annotations

from typing import Any

from django.db import connection
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as Rollback

from balance import selectors
from balance import services as ledger
from common.audits import Scope
from solvency import invariants, reports
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.database import owner
from tests.solvency.builders import take
from tests.transfers.test_operator_books import STEPS, World


def make_live() -> None:
    """Sandbox tenants need no approvals; from here on their money counts."""
    with owner.as_superuser(triggers=False), connection.cursor() as cursor:
        cursor.execute("UPDATE tenants_tenant SET mode = 'live'")


class TestAnyHistory(Rollback):
    @examples(max_examples=25)
    @given(steps=STEPS, taken=st.integers(1, 5_000), on_the_way=st.integers(-500, 500))
    def test_has_a_proof(self, steps: Any, taken: int, on_the_way: int) -> None:
        world = World()
        for name, number, what in steps:
            getattr(world, name)(number, what)
        world.apply()
        tenant_id = world.rows[0].tenant_id
        ledger.adjust(
            tenant_id=tenant_id, type="debit", amount=taken, reason="x", actor=SYSTEM, now=NOW
        )
        make_live()

        said = reports.parsed(take(rail=world.rows[0].network, not_on_statement=on_the_way))

        available = selectors.summary(tenant_id).available
        assert said["receivables"]["amount"] == max(-available, 0)
        assert list(invariants.check(Scope(full=True))) == []
