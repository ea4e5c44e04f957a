"""The money at the network: what it does not cover waits, and nothing leaves twice on it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from common.audits import Scope
from networks import return_codes
from networks.base import Accepted, Custody, Withdrawal
from networks.instant import giving_back, position_invariants, taking
from networks.instant.models import Conversation, Message, Position, ReturnAsk
from networks.instant.network import InstantNetwork
from tests.networks.instant.builders import RAIL, make_rail, payment, request, waiting
from tests.networks.instant.life import hear, kinds, the
from tests.networks.instant.operator import only
from transfers import positions
from transfers.positions import Move

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


@pytest.fixture(autouse=True)
def kept(operator, tmp_path):
    """The rail keeps its position, which is empty."""
    make_rail(tmp_path, profile=operator.name, keeps_position=True)


def put(cents, now):
    positions.put_in_force(Move(rail=RAIL, cents=cents), reason="Funded", by="Ada", now=now)


def position():
    row = Position.objects.get(pk=RAIL)
    assert list(position_invariants.check(Scope(full=True))) == []
    return row.balance, row.reserved


def pay(bank, now, *amounts):
    told = [payment(amount=cents) for cents in amounts]
    answers = bank.submit_many(told, now=now)
    assert all(isinstance(answers[each.id], Accepted) for each in told)
    return told


class TestAPayment:
    def test_waits_for_money_that_is_not_there(self, bank, operator, now):
        (told,) = pay(bank, now, 500)

        assert operator.taken() == []
        row = the(told.id)
        assert (row.status, row.waits_for, row.attempts, row.sent_at) == (
            "waiting",
            "position",
            0,
            None,
        )
        assert bank.custody([told.id]) == {told.id: Custody.OURS}
        assert position() == (0, 0)

    def test_reserves_what_it_orders_until_it_ends(self, bank, operator, now):
        put(1_000, now)
        settles, fails, waits = pay(bank, now, 600, 400, 1)

        assert position() == (1_000, 1_000)
        orders = {order.end_to_end_id: order for order in operator.taken()}
        assert set(orders) == {settles.id, fails.id}
        operator.say(operator.report(orders[settles.id], SETTLED[operator.name], now=now))
        operator.say(operator.report(orders[fails.id], "RJCT", code="AC04", now=now))
        hear()

        assert position() == (400, 0)
        assert taking.release_waiting(RAIL, now=now) == 1
        assert the(waits.id).status == "sent"
        assert position() == (400, 1)

    def test_that_settles_later_is_gone_at_once(self, bank, operator, now):
        put(600, now)
        (told,) = pay(bank, now, 600)
        order = only(operator.taken())
        operator.say(operator.report(order, "ACWP", now=now))
        hear()
        assert position() == (0, 0)

        operator.say(operator.report(order, "RJCT", code="AC04", now=now))
        hear()
        assert position() == (0, 0)  # it has to come back
        back = operator.give_back(order, now=now)
        operator.say(back)
        hear()
        operator.say(operator.report(back, SETTLED[operator.name], now=now))
        hear()

        assert (the(told.id).status, position()) == ("returned", (600, 0))

    def test_that_waits_can_be_withdrawn_and_never_leaves(self, bank, operator, now):
        (told,) = pay(bank, now, 500)

        assert bank.withdraw(told.id, now=now) == Withdrawal.WITHDRAWN
        put(500, now)

        assert taking.release_waiting(RAIL, now=now) == 0
        assert (operator.taken(), kinds(bank)) == ([], [f"rejected {return_codes.WITHDRAWN}"])
        assert position() == (500, 0)

    def test_that_waits_is_asked_for_again_as_the_same(self, bank, now):
        (told,) = pay(bank, now, 500)
        put(500, now)

        assert isinstance(bank.submit_many([told], now=now)[told.id], Accepted)

        assert the(told.id).status == "waiting"
        assert position() == (500, 0)

    def test_goes_where_no_position_is_kept(self, bank, operator, now, tmp_path):
        pay(bank, now, 500)
        make_rail(tmp_path, profile=operator.name)

        assert taking.release_waiting(RAIL, now=now) == 1
        pay(bank, now, 300)

        assert position() == (0, 800)

    def test_stays_while_the_rail_is_closed(self, bank, operator, now, tmp_path):
        pay(bank, now, 500)
        put(500, now)
        make_rail(tmp_path, profile=operator.name, keeps_position=True, active=False)

        assert taking.release_waiting(RAIL, now=now) == 0


class TestMoneyThatArrives:
    def test_goes_to_the_oldest(self, bank, operator, now):
        (last,) = pay(bank, now, 500)
        first = payment(amount=500)
        waiting(first, now - timedelta(hours=1))

        put(600, now)
        taking.release_waiting(RAIL, now=now)

        assert [the(each.id).status for each in (first, last)] == ["sent", "waiting"]

    def test_is_not_kept_from_others_by_one_that_is_too_large(self, bank, operator, now):
        pay(bank, now, *[1_000_000] * 101)
        (small,) = pay(bank, now, 5)

        put(10, now)
        taking.release_waiting(RAIL, now=now)

        assert the(small.id).status == "sent"
        assert Conversation.objects.filter(status="waiting").count() == 101

    def test_counts_when_a_request_is_paid(self, bank, operator, now):
        told = request(now)
        bank.submit_many([told], now=now)
        money = operator.payment_of(only(operator.taken()), now=now)
        operator.say(money)
        hear()
        assert position() == (0, 0)

        operator.say(operator.report(money, SETTLED[operator.name], now=now))
        hear()

        assert position() == (told.amount, 0)


class TestAReturnOfFunds:
    @pytest.fixture
    def ask(self, bank, operator, now):
        told = request(now)
        bank.submit_many([told], now=now)
        money = operator.payment_of(only(operator.taken()), now=now)
        operator.say(money, operator.report(money, SETTLED[operator.name], now=now))
        hear()
        operator.say(operator.ask_back(money, now=now))
        hear()
        ask = ReturnAsk.objects.get()
        return giving_back.propose(ask.pk, gives_back=True, why="Agreed", by="Ada", now=now)

    def test_waits_for_money_as_a_payment_does(self, ask, bank, operator, now):
        put(-position()[0], now)

        giving_back.confirm(ask.pk, by="Bob", now=now)

        back = Conversation.objects.get(kind="give_back")
        assert (back.status, back.waits_for, position()) == ("waiting", "position", (0, 0))
        put(back.amount, now)
        assert taking.release_waiting(RAIL, now=now) == 1
        assert position() == (back.amount, back.amount)
        assert Message.objects.filter(conversation=back, direction="out").count() == 1


@pytest.mark.django_db(transaction=True)
def test_fifty_race_for_a_position_that_holds_ten(operator, now):
    put(10 * 700, now)
    told = [payment(amount=700) for _ in range(50)]

    def submit(each):
        try:
            return InstantNetwork(RAIL).submit_many([each], now=now)[each.id]
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=10) as pool:
        answers = list(pool.map(submit, told))

    assert all(isinstance(answer, Accepted) for answer in answers)
    assert len(operator.taken()) == 10
    assert Conversation.objects.filter(status="waiting").count() == 40
    assert position() == (7_000, 7_000)


@pytest.mark.django_db(transaction=True)
def test_sweeps_race_for_what_arrives(operator, bank, now):
    pay(bank, now, *[700] * 30)
    put(10 * 700, now)

    def sweep(_):
        try:
            return taking.release_waiting(RAIL, now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=6) as pool:
        released = list(pool.map(sweep, range(6)))

    assert sum(released) == 10
    assert position() == (7_000, 7_000)
