"""Money at the stand-in bank, a process of its own: the sweeps of beat and people do all of it,
and in the end our books and the bank's own record say the same."""

from __future__ import annotations

from datetime import timedelta

import pytest

from balance import invariants
from balance.models import Balance
from common import database_clock
from config.beat import SCHEDULE
from config.celery import app
from funding.models import FundingTransaction
from networks import registry
from networks.ach.models import AchEntry, Correction, InFile, OutFile
from networks.ach.network import AchNetwork
from payments.models import Payment
from tests.builders import make_source
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.funding.builders import top_up
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import (
    FRIDAY,
    MONDAY,
    THURSDAY,
    TUESDAY,
    WEDNESDAY,
    at,
    connect_rail,
    eastern,
    recorded,
    run,
)
from tests.payments.builders import pay

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

_POSTED = "SELECT coalesce(sum(amount), 0) FROM posting"
# What each entry came to on our account there, with what was answered.
_KEPT = """
SELECT entry.trace, entry.effect + coalesce(sum(answer.effect), 0)
FROM entry LEFT JOIN answer ON answer.entry_id = entry.id GROUP BY entry.id
"""


def sweeps():
    """All of networks, funding and payments that beat starts, as it names them."""
    parts = ("networks.", "funding.", "payments.")
    names = [each["task"] for each in SCHEDULE.values() if each["task"].startswith(parts)]
    app.loader.import_default_modules()
    return [app.tasks[name] for name in names]


@pytest.fixture
def rail(bank, woken):  # noqa: F811
    """A rail on which two people release. Nobody is woken: beat alone starts the sweeps."""
    connect_rail(bank)
    return bank


class Day:
    """Time that passes at both ends, and whatever beat starts meanwhile."""

    def __init__(self, bank):  # noqa: F811
        self.bank = bank
        self.now = eastern(MONDAY, "09:00")

    def goes_on(self, day, hour):
        self.now = at(self.bank, day, hour)
        for _ in range(4):
            self.now += timedelta(seconds=30)
            run(self.now, *sweeps())
            self.bank.ask("scan")


@pytest.fixture
def sources(acme):
    """Accounts that were verified elsewhere, by the last five digits of their numbers, which tell
    the bank what to do."""
    return {
        digits: make_source(acme, account_number=f"9000{digits}")
        for digits in ("00099", "10001", "60001")
    }


@pytest.fixture
def day(rail, sources):
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield Day(rail)
    undo()


def release_by_two(now):
    file = OutFile.objects.get(status="built")
    assert file.built_by == "system"
    life.release(file, now)


def statuses():
    """Of each entry, by its amount."""
    return dict(AchEntry.objects.values_list("amount", "status"))


def fundings():
    """What the tenant sees of each top-up, by its amount."""
    rows = FundingTransaction.objects.values_list("amount", "status", "return_code")
    return {amount: (status, code) for amount, status, code in rows}


def _kept(entry):
    if entry.status == "returned":
        return 0
    assert entry.status == "final"
    return entry.amount if entry.is_debit else -entry.amount


def available(tenant):
    return Balance.objects.get(tenant=tenant).available


def test_our_books_are_the_banks(acme, rail, day, sources):
    for digits, amount in (("00099", 30_000), ("10001", 20_000), ("60001", 10_000)):
        top_up(acme, source=sources[digits], amount=amount, now=day.now)

    day.goes_on(MONDAY, "09:30")
    assert set(statuses().values()) == {"waiting"}

    day.goes_on(MONDAY, "09:46")
    release_by_two(day.now)
    day.goes_on(MONDAY, "09:50")
    assert OutFile.objects.get().status == "acknowledged"
    assert set(statuses().values()) == {"accepted"}
    assert {status for status, _ in fundings().values()} == {"in_transit"}

    day.goes_on(TUESDAY, "09:00")  # settled between the banks, and not final
    assert recorded(rail, _POSTED) == [(60_000,)]
    assert available(acme) == 0

    day.goes_on(WEDNESDAY, "09:00")
    assert fundings()[20_000] == ("failed", "R01")
    correction = Correction.objects.get()
    assert (correction.code, correction.status) == ("C01", "applied")
    corrected = FundingTransaction.objects.get(amount=10_000).source
    assert (corrected.version, corrected.last4) == (2, "0001")

    day.goes_on(THURSDAY, "09:00")
    assert fundings() == {
        30_000: ("completed", ""),
        20_000: ("failed", "R01"),
        10_000: ("completed", ""),
    }
    assert available(acme) == 40_000

    pay(acme, 15_000, to="900000077", now=day.now)
    day.goes_on(THURSDAY, "09:30")
    day.goes_on(THURSDAY, "09:46")
    release_by_two(day.now)
    day.goes_on(THURSDAY, "09:50")
    day.goes_on(FRIDAY, "09:00")
    assert Payment.objects.get().status == "completed"

    assert recorded(rail, _POSTED) == [(available(acme),)] == [(25_000,)]
    assert dict(recorded(rail, _KEPT)) == {
        row.trace_number: _kept(row) for row in AchEntry.objects.all()
    }
    assert set(InFile.objects.values_list("status", flat=True)) == {"applied", "stored"}
    with database_clock.at(day.now):
        assert invariants.check(now=day.now, full=True).findings == []
