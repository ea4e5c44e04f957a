from __future__ import annotations

from datetime import timedelta

import pytest

from common import queues
from tests.builders import NOW, make_endpoint, publish
from webhooks.dispatcher import claims

pytestmark = pytest.mark.django_db


def deliveries():
    states = queues.states(now=NOW)
    return next(state for state in states if state.name == "webhooks.webhookdelivery")


def test_what_is_worked_on_is_not_due(acme):
    make_endpoint(acme)
    publish(acme, now=NOW - timedelta(minutes=3))
    publish(acme, now=NOW - timedelta(minutes=1))
    publish(acme, now=NOW + timedelta(minutes=1))
    claims.claim(slots=1, retry_slots=1, now=NOW)

    state = deliveries()

    assert (state.due, state.leased, state.later) == (1, 1, 1)
    assert state.age(NOW) == 60


def test_a_lease_that_ran_out_is_due_again(acme):
    make_endpoint(acme)
    publish(acme, now=NOW - timedelta(minutes=3))
    claims.claim(slots=1, retry_slots=1, now=NOW - claims.LEASE)

    state = deliveries()

    assert (state.due, state.leased, state.attempts_max) == (1, 0, 1)
