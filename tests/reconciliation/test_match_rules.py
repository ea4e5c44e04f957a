from __future__ import annotations

from datetime import timedelta

import pytest

from common import database_clock
from common.audits import Scope
from common.clock import utc_now
from reconciliation import expecting, match_rules
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.statements import MONDAY
from tests.reconciliation.transfers import batch_of, settled

pytestmark = pytest.mark.django_db
WHOLE = Scope(full=True)


def found(scope=WHOLE):
    with database_clock.at(utc_now()):
        return [(each.code, each.subject) for each in match_rules.check(scope)]


def test_a_line_that_was_not_taken_is_named_once_it_is_old(rail, account, acme):
    long_ago = utc_now() - timedelta(hours=2)
    (old,) = settled(acme, batch_of(rail), 5_000, now=long_ago)
    settled(acme, batch_of(rail), 700, now=utc_now())

    missing = [("match_missing", old.instruction_id)]
    assert found() == missing
    assert found(Scope(since=long_ago + timedelta(minutes=30))) == missing
    assert found(Scope(since=long_ago + timedelta(minutes=90))) == []

    expecting.take(RAIL, now=utc_now())
    assert found() == []


def test_lines_of_days_before_the_account_are_not_missing(rail, account, acme):
    day = MONDAY - timedelta(days=1)
    settled(acme, batch_of(rail), 5_000, day=day, now=utc_now() - timedelta(hours=2))

    assert found() == []
