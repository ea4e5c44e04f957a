"""The database connection ends at any call while payments wait for money at the network, and money
arrives: each goes once, and the position is what the network and people said, to the cent."""

from __future__ import annotations

import pytest
from django.db import Error as DatabaseProblem
from django.db import connection

from common.audits import Scope
from common.clock import utc_now
from networks.instant import position_invariants, taking
from networks.instant.models import Conversation, Position, PositionMove
from tests.crashes import bomb as bombs
from tests.crashes.bomb import Moment
from tests.crashes.obedient import Obedient
from tests.crashes.test_instant import go_through, time_passes
from tests.networks.instant.builders import RAIL, make_rail, payment
from tests.networks.instant.operator import Operator
from tests.samples import by_day
from transfers import positions
from transfers.positions import Move

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

STEP = 7
EACH = 1_234


@pytest.fixture
def network(tmp_path) -> Obedient:
    make_rail(tmp_path, keeps_position=True)
    return Obedient(Operator(tmp_path, "fednow"))


@pytest.fixture
def bomb():
    with bombs.planted() as planted:
        yield planted


def put(cents, why):
    """An operator says once that money was moved, and again if nobody knows whether it was said."""
    if not PositionMove.objects.filter(reason=why).exists():
        positions.put_in_force(Move(rail=RAIL, cents=cents), reason=why, by="Ada", now=utc_now())


def go_on(network, told):
    """Two payments have their money, and that of the third one comes later."""
    go_through(network, told)
    put(EACH, f"the rest of {told[0].id}")
    taking.release_waiting(RAIL, now=utc_now())
    time_passes()
    go_through(network, told)


def one_life(network, bomb, at, moment=Moment.BEFORE):
    """With one death; returns how many calls there were."""
    told = [payment(amount=EACH) for _ in range(3)]
    put(2 * EACH, f"the first of {told[0].id}")
    with bomb.armed(at=at, moment=moment):
        try:
            go_on(network, told)
        except DatabaseProblem:
            connection.close()
    for _ in range(3):
        time_passes()
        go_on(network, told)
    assert [network.settled[each.id] for each in told] == [1, 1, 1]
    assert {row.status for row in Conversation.objects.all()} == {"final"}
    position = Position.objects.get(pk=RAIL)
    assert (position.balance, position.reserved) == (0, 0)
    return bomb.calls


def deaths(network, bomb, *, step, first=1):
    calls = one_life(network, bomb, at=None)
    assert calls > 80
    points = 0
    for moment in Moment:
        for at in range(first, calls + 1, step):
            one_life(network, bomb, at, moment)
            points += bomb.has_gone_off
    assert points > 2 * (calls - first) // step * 0.9
    assert list(position_invariants.check(Scope(full=True))) == []
    assert list(positions.check(Scope(full=True))) == []
    print(f"\nDEATHS position: {points}")  # noqa: T201  # counted from these lines


def test_some_deaths(network, bomb):
    deaths(network, bomb, step=4 * STEP)


@pytest.mark.slow
@pytest.mark.parametrize("first", by_day(range(1, STEP + 1), {3}))
def test_all_deaths(network, bomb, first):
    deaths(network, bomb, step=STEP, first=first)
