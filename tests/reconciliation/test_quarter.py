"""Banking days at the stand-in bank on which much goes wrong: every day closes at zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from balance import invariants
from common import database_clock
from networks.ach.models import AchEntry, Correction
from reconciliation.models import ClosedDay, StatementLine
from solvency.models import ProofReport
from tests.devstack.odfi.conftest import Bank, a_bank
from tests.networks.ach.standin import recorded
from tests.reconciliation.books import balances
from tests.reconciliation.quarter import (
    CLOCK,
    FEE,
    KINDS_OF_TROUBLE,
    QUIET_DAYS,
    STRANGE,
    beginning,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]

# A tenant has few bank accounts, and each funding that does not complete needs one of its own: a
# prime, so that these fall to all tenants in turn.
_MANY_TENANTS = 79
_AT_NIGHT = (pytest.mark.nightly, pytest.mark.timeout(3_600))
_BALANCE = "SELECT balance FROM posting ORDER BY id DESC LIMIT 1"
_POSTED = "SELECT kind, count(*) FROM posting GROUP BY kind"
_VERDICTS = "SELECT verdict, count(*) FROM file GROUP BY verdict"


@pytest.fixture
def bank(woken: object) -> Iterator[Bank]:
    """Nobody is woken: beat alone starts the sweeps."""
    with a_bank("--clock", CLOCK) as running:
        yield running


@pytest.mark.parametrize(
    ("days", "transfers", "tenants"),
    [(10, 70, 4), pytest.param(63, 1_017, _MANY_TENANTS, marks=_AT_NIGHT)],
    ids=["ten days", "a quarter"],
)
def test_every_day_closes_at_zero(bank: Bank, days: int, transfers: int, tenants: int) -> None:
    with beginning(bank, tenants=tenants, days=days, transfers=transfers) as quarter:
        quarter.pass_by()
        quarter.next_morning()
        with database_clock.at(quarter.now):
            findings = invariants.check(now=quarter.now, full=True).findings

    assert findings == []
    closed = list(ClosedDay.objects.order_by("day"))
    assert [row.day for row in closed] == quarter.days
    assert {row.closed_by for row in closed} == {""}
    proven = ProofReport.objects.order_by("day").values_list("day", flat=True)
    assert list(proven) == quarter.days
    assert [row for row in closed if row.ledger - row.in_transit != row.bank] == []
    assert not StatementLine.objects.filter(matched=None).exclude(amount=0).exists()
    assert recorded(bank, _BALANCE) == [(closed[-1].bank,)]
    assert (closed[-1].ledger, closed[-1].in_transit) == (closed[-1].bank, 0)

    verdicts, posted = dict(recorded(bank, _VERDICTS)), dict(recorded(bank, _POSTED))
    disturbed = days - QUIET_DAYS
    assert verdicts["rejected"] == len(range(1, disturbed, KINDS_OF_TROUBLE))
    assert posted["fee"] == len(range(0, disturbed, KINDS_OF_TROUBLE))
    assert posted["credit"] == len(range(3, disturbed, KINDS_OF_TROUBLE))
    held = balances()
    assert held["bank_fees"] == posted["fee"] * FEE
    assert held["suspense"] == 0
    assert held["revenue"] == -posted["credit"] * STRANGE
    statuses = Counter(AchEntry.objects.values_list("status", flat=True))
    sent = transfers * disturbed
    assert posted["return"] == statuses["returned"] >= sent // 55
    assert statuses["final"] + statuses["returned"] == sent
    assert Correction.objects.count() == len(range(142, sent + 1, 200))
