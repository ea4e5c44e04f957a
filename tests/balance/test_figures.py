"""Which check is the last one."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import figures, invariants
from balance.models import LedgerCheck
from common import database_clock
from common.clock import utc_now

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
