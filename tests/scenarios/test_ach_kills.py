"""Workers are killed at every step between a tenant's order and the bank's last word on it: nothing
is lost or sent twice, and our books are the bank's to the cent."""

from __future__ import annotations

import random
import sys
from collections import Counter
from datetime import date, datetime, timedelta

import pytest

from balance import invariants
from balance.models import Balance
from common import database_clock
from funding.models import FundingTransaction
from networks import calendar
from networks.ach.models import AchEntry, InFile, InRecord, OutFile
from networks.ach.network import AchNetwork
from payments.models import Payment
from tests.builders import make_source, make_tenant
from tests.devstack.odfi.conftest import a_bank
from tests.funding.builders import top_up
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import connect_rail
from tests.payments.builders import fund, pay
from tests.scenarios.ach_mortal import Mortal
from tests.scenarios.mortal import Point, points_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]

SEED, SAMPLE = 20261123, 18
STEP = 3  # parts of all steps, which are tried by themselves
KILLS_MIN = 200
KILLED = ["submit", "freeze", "build", "release", "send", "fetch", "read", "finish", "apply"]
OPENING = 100_000_000
FUNDS = 50_000_000
# Completes, comes back before its money counts, comes back on the next banking day.
NUMBERS = ("000000099", "000010001", "000010009")
RELEASED_BY_TWO = {"dual_release": True, "auto_release_below": 0}
# What a dead worker has claimed is free after this long (files: 5 minutes).
LEASE_OVER = timedelta(minutes=5, seconds=1)


class Days:
    """A tenant and a bank. Each day has its orders, its deaths, and a worker who lives."""

    def __init__(self, bank) -> None:
        self.bank = bank
        self.tenant = make_tenant()
        self.sources = [make_source(self.tenant, account_number=number) for number in NUMBERS]
        connect_rail(bank, **RELEASED_BY_TWO, rates_judged_from=10**6)
        fund(self.tenant, FUNDS)
        life.hire()
        self.mortal = Mortal(bank.home)
        self.day = date(2035, 12, 3)
        self.amount = 10_000
        self.kills: Counter[str] = Counter()

    def live(self, *deaths: Point) -> list[str]:
        """A banking day with orders, on which workers die at these steps, one after the other;
        the work of each step of the last one, who lives."""
        self._order()
        return self._go_to_work(*deaths)

    def rest(self, days: int) -> None:
        """Banking days without orders, until the last return has come."""
        for _ in range(days):
            self._go_to_work()

    def _go_to_work(self, *deaths: Point) -> list[str]:
        """When the entries of the first cut-off are fixed; what comes then goes tomorrow."""
        now = self._at(9, 45)
        self.bank.ask("clock", to=now.isoformat())
        for death in deaths:
            ended = self.mortal.run(now=now, dies_at=death)
            self.kills.update(ended.works[-1:] if ended.is_killed else [])
            now += LEASE_OVER
        works = self.mortal.run(now=now).works
        self.day = calendar.next_banking_day(self.day)
        return works

    def _order(self) -> None:
        now = self._at(9, 35)
        for source in self.sources:
            top_up(self.tenant, source=source, amount=self._next_amount(), now=now)
        for number in NUMBERS[:2]:
            pay(self.tenant, self._next_amount(), to=number, now=now)

    def _next_amount(self) -> int:
        self.amount += 1
        return self.amount

    def _at(self, hour: int, minute: int) -> datetime:
        return datetime(
            self.day.year, self.day.month, self.day.day, hour, minute, tzinfo=calendar.EASTERN
        )


@pytest.mark.parametrize("first", range(STEP))
def test_killed_at_every_step(request, connect, first):
    """Without `--nightly`: at a sample, once."""
    nightly = request.config.getoption("--nightly")
    if first and not nightly:
        pytest.skip("nightly")
    chance = random.Random(SEED + first)
    with a_bank() as bank:
        days = Days(bank)
        connect(AchNetwork(RAIL))  # the accounts are verified by now
        days.live()
        points = points_of(days.live())  # a day that also has returns to read
        for point in points[first::STEP] if nightly else sample(points, chance):
            days.live(point, chance.choice(points))
        days.rest(6)
        at_bank = bank.entries()

        sys.stdout.write(f"killed at: {dict(days.kills)}\n")
        assert set(days.kills) == set(KILLED)
        assert days.kills.total() >= (KILLS_MIN if nightly else SAMPLE)
        each_went_once(at_bank)
        assert money_of(days.tenant) - FUNDS == bank.balance - OPENING
        now = days._at(9, 35)
        with database_clock.at(now):
            assert invariants.check(now=now, full=True).findings == []


def sample(points, chance):
    """Of each kind of work the same number."""
    of_each = SAMPLE // len(KILLED)
    return [
        point
        for kind in KILLED
        for point in chance.sample([each for each in points if each[0] == kind], of_each)
    ]


def each_went_once(at_bank):
    """What the bank has is what we say that we sent: each order once, for its amount."""
    ours = AchEntry.objects.values_list("instruction_id", "trace_number", "amount")
    assert sorted((each["individual_id"], each["trace"], each["amount"]) for each in at_bank) == (
        sorted((name[-15:].upper(), trace, amount) for name, trace, amount in ours)
    )
    orders = [*FundingTransaction.objects.all(), *Payment.objects.all()]
    assert sorted(row.pk for row in orders) == sorted(name for name, _, _ in ours)
    assert set(OutFile.objects.values_list("status", flat=True)) == {"acknowledged"}
    assert set(AchEntry.objects.values_list("status", flat=True)) == {"final", "returned"}
    assert not InRecord.objects.exclude(status="applied").exists()
    read = InFile.objects.exclude(folder="statements")
    assert set(read.values_list("status", flat=True)) == {"applied"}


def money_of(tenant):
    """All of it; nothing is on its way any more."""
    balance = Balance.objects.get(tenant=tenant)
    assert (balance.locked, balance.pending) == (0, 0)
    return balance.available
