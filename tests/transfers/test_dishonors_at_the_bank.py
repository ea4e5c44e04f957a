"""Top-ups at the stand-in bank, a process of its own, whose late returns our bank dishonors: one is
let stand, one is contested."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from balance import invariants
from balance.operator.totals import totals
from funding.models import FundingTransaction
from funding.transfer import FUNDING
from networks import registry
from networks.ach.inbound import deciding
from networks.ach.models import InRecord
from networks.ach.network import AchNetwork
from networks.ach.replying import freeze_due
from reconciliation import accounts
from reconciliation import reading as statements
from reconciliation.accounts import Opening
from reconciliation.matching import running
from reconciliation.models import ExpectedLine, StatementFormat, StatementLine
from tests.balance.builders import balance_of
from tests.builders import make_source
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.funding.builders import top_up
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import run
from tests.networks.ach.test_whole_way import NOW, Rail
from transfers import dishonors, submission
from transfers.inbox import messages
from transfers.inbox.models import ReturnDishonor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# The ends of the numbers of the accounts, which tell the bank what to do, and cents.
STANDS_BY_NOTHING, CONTESTS = ("20001", 30_000), ("21002", 20_000)


@pytest.fixture
def sources(acme):
    """Their accounts, which were verified elsewhere, with the cents of a top-up from each."""
    return [
        (make_source(acme, account_number=f"9000{digits}"), amount)
        for digits, amount in (STANDS_BY_NOTHING, CONTESTS)
    ]


@pytest.fixture
def rail(bank, sources):  # noqa: F811
    rail = Rail(bank)
    bank.ask("terms", late_return_days=4)
    undo = registry.connect(AchNetwork(RAIL), modes=["sandbox"])
    yield rail
    undo()


def at_the_bank(account):
    """What lies on our account there by the operator's books, in cents."""
    held = {total.name: total.debit - total.credit for total in totals()}
    return held.get(account, 0)


def read(rail):
    """Take what the bank has to say, to the tenant's balance."""
    rail.read()
    run(rail.now, lambda: messages.process(FUNDING, now=rail.now))


def test_the_money_of_one_is_the_tenants_again(acme, rail, sources):
    for source, amount in sources:
        top_up(acme, source=source, amount=amount, now=rail.now)
    run(rail.now, lambda: submission.submit_due(FUNDING, now=rail.now))
    rail.send()
    read(rail)
    statements_begin(rail.bank)
    rail.days(7, NOW + timedelta(days=9))
    read(rail)
    assert balance_of(acme) == (0, 0, 0)
    for record in InRecord.objects.filter(may_dishonor=True):
        deciding.dishonor(record_id=record.pk, code="R68", staff="anna", why="late", now=rail.now)

    rail.send(freeze_due)
    read(rail)

    assert at_the_bank(f"settlement:{RAIL}") == 50_000
    assert at_the_bank("returns_receivable") == -50_000
    rail.days(5, rail.now + timedelta(days=7))
    read(rail)
    run(rail.now, lambda: dishonors.count_due(now=rail.now))
    assert balance_of(acme) == (30_000, 0, 0)
    assert at_the_bank(f"settlement:{RAIL}") == 30_000
    assert at_the_bank("returns_receivable") == 0
    assert set(FundingTransaction.objects.values_list("status", "returned")) == {("failed", True)}
    assert ReturnDishonor.objects.filter(contested=None).get().amount == 30_000
    assert found_on_statements(rail.now) == {"in_dishonored": "file", "in_contested": "returns"}
    run(rail.now, lambda: _sound(rail.now))


def statements_begin(bank):  # noqa: F811
    said = bank.ask("account")
    opening = Opening(
        rail=RAIL,
        number=said["number"],
        format=StatementFormat.BAI2,
        opened_on=date.fromisoformat(said["day"]),
        cents=said["opening"],
    )
    accounts.put_in_force(opening, reason="As the bank says", by="ops", now=NOW)


def found_on_statements(now):
    """By which rule each step of a dishonored return was found; every line of the bank was."""
    run(now, lambda: statements.read_due(now=now), lambda: running.run(RAIL, now=now))
    assert not StatementLine.objects.filter(matched=None).exists()
    rows = ExpectedLine.objects.filter(step__in=["in_dishonored", "in_contested"])
    return dict(rows.values_list("step", "match__rule"))


def _sound(now):
    assert invariants.check(now=now, full=True).findings == []
