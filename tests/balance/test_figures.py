"""Which check is the last one, and what all tenants had when it began."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import figures, invariants
from balance import services as ledger
from balance.figures import Totals
from balance.models import LedgerCheck
from common import database_clock
from common.clock import utc_now
from tests.balance.builders import fund, movement

pytestmark = pytest.mark.django_db


def test_a_check_that_is_dated_ahead_hides_no_other():
    now = utc_now()
    with database_clock.at(now):
        honest = invariants.check(now=now).id
        ahead = now + timedelta(days=400)
        LedgerCheck.objects.create(
            started_at=ahead, looked_at=ahead, finished_at=ahead, is_full=False, ok=True
        )

        seen = [figures.last_check(), figures.last_verdict(), *figures.last_checks(limit=9)]
        since = invariants._window()[1]

    assert [run.id for run in seen if run] == [honest] * 3
    assert since == now - invariants.LOOKS_BACK


class TestTotals:
    def test_are_those_of_the_moment_at_which_the_newest_check_began(self, acme, rival):
        now = utc_now()
        fund(acme, 700)
        ledger.lock(**movement(acme, 200))
        ledger.debit(**movement(rival, 30))
        ledger.change_pending(tenant_id=rival.pk, delta=5)
        assert figures.totals() is None

        with database_clock.at(now):
            invariants.check(now=now)
        fund(acme, 1_000)

        assert figures.totals() == Totals(available=470, pending=5, locked=200, overdrawn=1, at=now)

    def test_are_left_alone_by_a_check_of_one_tenant(self, acme):
        fund(acme, 700)
        invariants.check(now=utc_now())
        before = figures.totals()
        assert before is not None
        assert before.available == 700
        fund(acme, 1)

        invariants.check(now=utc_now(), tenant_id=acme.pk)

        assert figures.totals() == before

    def test_are_there_while_the_check_still_runs(self, acme):
        """A full check of a large ledger takes hours."""
        fund(acme, 700)
        invariants.check(now=utc_now())
        LedgerCheck.objects.update(finished_at=None, ok=None)

        totals = figures.totals()

        assert totals is not None
        assert totals.available == 700
