"""How a transfer is handed to its network: the same for money in and money out."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from balance import invariants
from balance import selectors as ledger
from common.state import IllegalTransition
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from tests.builders import NOW
from tests.database import owner
from tests.networks.scripted import BankOfOneLimit
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import messages

pytestmark = pytest.mark.usefixtures("set_size")


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


class InterruptedBank(SandboxBank):
    """It takes instructions over; `before_the_answer` happens before its first answer."""

    def __init__(self, before_the_answer):
        self._before_the_answer = [before_the_answer]

    def submit_many(self, instructions, *, now):
        answers = super().submit_many(instructions, now=now)
        if self._before_the_answer:
            self._before_the_answer.pop()()
        return answers


def die():
    raise SystemExit


def read(row):
    return type(row).objects.get(pk=row.pk)


def status_of(row):
    return read(row).status


def history_of(row):
    return list(row.history.order_by("sequence").values_list("to_status", flat=True))


def postings_of(row):
    rows = ledger.transactions(row.tenant_id).filter(source_id=row.pk).order_by("sequence")
    return [(each["type"], each["amount"]) for each in rows]


def test_tries_again_while_the_network_is_down(acme, money):
    row = money.make(acme, to="30002")

    submission.submit_due(money.transfer, now=NOW)
    submission.submit_due(money.transfer, now=NOW + timedelta(seconds=1))  # not due yet
    assert (status_of(row), read(row).attempts) == (money.unsent, 1)

    submission.submit_due(money.transfer, now=NOW + timedelta(seconds=2))
    submission.submit_due(money.transfer, now=NOW + timedelta(seconds=10))
    assert (status_of(row), read(row).attempts) == (money.sent, 3)
    assert SandboxInstruction.objects.get().submissions == 3


def test_a_worker_that_died_after_the_bank_accepted_loses_nothing(acme, money, connect):
    row = money.make(acme, 25_000)
    connect(InterruptedBank(die))
    with pytest.raises(SystemExit):
        submission.submit_due(money.transfer, now=NOW)
    messages.process(money.transfer, now=NOW)  # the bank's message is there before our own record
    assert status_of(row) == money.unsent

    money.run_due(now=NOW + submission.LEASE)

    assert status_of(row) == money.completed
    assert SandboxInstruction.objects.count() == 1
    assert postings_of(row) == [(type, 25_000) for type in money.postings]


def test_a_worker_that_slept_past_its_lease_records_nothing(acme, money, connect):
    row, next_claimed = money.make(acme), []

    def next_worker():
        late = NOW + submission.LEASE
        next_claimed.append(submission.submit_due(money.transfer, now=late))

    connect(InterruptedBank(next_worker))
    submission.submit_due(money.transfer, now=NOW)

    assert next_claimed == [1]
    assert history_of(row) == [money.unsent, money.sent]


class TestARowThatCannotBeSent:
    @pytest.fixture(autouse=True)
    def rows(self, acme, money):
        self.broken, self.fine = money.make(acme, 100, to="000123456700"), money.make(acme, 200)

    def submit(self, money):
        assert submission.submit_due(money.transfer, now=NOW) == 2

        broken = read(self.broken)
        assert (broken.status, broken.attempts) == (money.unsent, 1)
        assert broken.next_attempt_at == NOW + submission.RETRY_AFTER[0]
        assert status_of(self.fine) == money.sent

    def test_holds_up_nobody_where_its_network_is_gone(self, money):
        with owner.as_superuser(triggers=False):
            type(self.broken).objects.filter(pk=self.broken.pk).update(network="gone")

        self.submit(money)

    def test_holds_up_nobody_where_its_account_does_not_open(self, money):
        account = money.transfer.account(self.broken)
        rows = type(account).objects.filter(pk=account.pk)
        rows.update(account_number_token="dev:gone")

        self.submit(money)

        rows.update(account_number_token=account.account_number_token)


def test_what_cannot_be_recorded_is_tried_again(acme, money):
    row = money.make(acme)

    class Broken(type(money.transfer)):  # type: ignore[misc]
        def accepted_together(self, answers, now):
            super().accepted_together(answers, now)
            raise RuntimeError("a bug")

    submission.submit_due(Broken(), now=NOW)
    assert history_of(row) == [money.unsent]
    submission.submit_due(money.transfer, now=NOW + timedelta(seconds=2))

    assert history_of(row) == [money.unsent, money.sent]
    assert SandboxInstruction.objects.count() == 1


def test_a_suspended_tenants_money_is_left_alone(acme, money):
    row = money.make(acme)
    type(acme).objects.filter(pk=acme.pk).update(status="suspended")

    assert submission.submit_due(money.transfer, now=NOW) == 0
    assert status_of(row) == money.unsent


def test_a_refusal_by_the_network_is_final_and_gives_back_what_was_set_aside(acme, money, connect):
    row = money.make(acme, 20_000)
    before = ledger.summary(acme.pk)
    connect(BankOfOneLimit(19_999))

    submission.submit_due(money.transfer, now=NOW)

    assert (status_of(row), read(row).failure_code) == ("failed", "unsupported")
    funds = ledger.summary(acme.pk)
    assert funds.available + funds.pending + funds.locked == before.available + before.locked
    assert (funds.pending, funds.locked) == (0, 0)


def test_every_pair_of_statuses(acme, money):
    known = money.make(acme)
    statuses = type(known)._meta.get_field("status").choices

    for (source, _), (target, _) in product(statuses, repeat=2):
        if money.states.allows(source, target):
            assert source != target
        else:
            with pytest.raises(IllegalTransition):
                money.states.advance(type(known)(pk=known.pk, status=source), target)
