"""The database connection ends at any call on the way of instant payments and requests: the next
run goes on, the network moves the money of each once, and each is told once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import Error as DatabaseProblem
from django.db import connection
from django.db.models import F

from common.audits import Scope
from common.clock import utc_now
from networks.base import Accepted
from networks.instant import invariants, sending
from networks.instant.models import Conversation, InstantEvent, InstantLine, Message
from networks.instant.network import InstantNetwork
from networks.instant.receiving import listening
from tests.crashes import bomb as bombs
from tests.crashes.bomb import Moment
from tests.crashes.obedient import Obedient
from tests.networks.instant.builders import RAIL, make_rail, payment, request
from tests.networks.instant.operator import Operator
from tests.samples import by_day

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

STEP = 7
BANK = InstantNetwork(RAIL)


@pytest.fixture(params=["rtp", "fednow"])
def network(request, tmp_path) -> Obedient:
    make_rail(tmp_path, profile=request.param)
    return Obedient(Operator(tmp_path, request.param))


@pytest.fixture
def bomb():
    with bombs.planted() as planted:
        yield planted


def go_through(network, told):
    """Submit, and let everybody talk until nobody says anything any more."""
    BANK.submit_many(told, now=utc_now())
    while network.answer() + listening.listen(RAIL, seconds=0, now=utc_now()):
        sending.send_due(RAIL, now=utc_now())


def time_passes():
    """Leases end, and what nobody has answered is due."""
    seconds = timedelta(seconds=90)
    moved = {"next_attempt_at": F("next_attempt_at") - seconds, "leased_until": None}
    Message.objects.filter(next_attempt_at__isnull=False).update(**moved)
    InstantLine.objects.update(**moved)


def go_on(network, told):
    for _ in range(4):
        time_passes()
        go_through(network, told)
        sending.send_due(RAIL, now=utc_now())


def one_life(network, bomb, at, moment=Moment.BEFORE):
    """Two payments and a request through everything, with one death; returns how many calls there
    were."""
    told = [payment(), payment(), request(utc_now())]
    with bomb.armed(at=at, moment=moment):
        try:
            go_through(network, told)
        except DatabaseProblem:
            connection.close()
    go_on(network, told)
    assert all(isinstance(BANK.find(each.id), Accepted) for each in told)
    assert [network.settled[each.id] for each in told] == [1, 1, 1]
    assert {row.status for row in Conversation.objects.all()} == {"final"}
    for each in told:
        events = InstantEvent.objects.filter(instruction_id=each.id, voided_at=None)
        kinds = sorted(events.exclude(kind="accepted").values_list("kind", flat=True))
        assert kinds == ["final", "settled"]
    return bomb.calls


def deaths(network, bomb, *, step, first=1):
    calls = one_life(network, bomb, at=None)
    assert calls > 50
    points = 0
    for moment in Moment:
        for at in range(first, calls + 1, step):
            one_life(network, bomb, at, moment)
            points += bomb.has_gone_off
    assert points > 2 * (calls - first) // step * 0.9
    assert list(invariants.check(Scope(full=True))) == []
    print(f"\nDEATHS {network.operator.name}: {points}")  # noqa: T201  # counted from these lines


def test_some_deaths(network, bomb):
    deaths(network, bomb, step=5 * STEP)


@pytest.mark.slow
@pytest.mark.parametrize("first", by_day(range(1, STEP + 1), {5}))
def test_all_deaths(network, bomb, first):
    deaths(network, bomb, step=STEP, first=first)
