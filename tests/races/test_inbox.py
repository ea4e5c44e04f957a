"""Messages that two workers have in hand at once: each applied once, and in the order they came."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction

from funding.transfer import FUNDING, FundingTransfer
from networks.base import EventKind
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from transfers import submission
from transfers.inbox import arrivals, judging, messages
from transfers.inbox.models import InboundEvent, InboundOutcome

pytestmark = pytest.mark.django_db(transaction=True)


def store(*events, now=NOW):
    arrivals.collect(network=ScriptedNetwork(*events), id_prefix="ftx_", now=now)


@pytest.fixture
def in_transit(acme):
    funding = top_up(acme)
    submission.submit_due(FUNDING, now=NOW)
    store(message(funding, EventKind.ACCEPTED, id="accepted"))
    assert messages.apply_new(FUNDING, now=NOW) == 1
    return funding


def stored(event_id):
    return InboundEvent.objects.get(event_id=event_id)


def by_another_worker(event_id, now=NOW):
    """Whether it applied the message. One that waits for us gives up: we wait for it."""

    def run():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '1s'")
            return messages.apply(FUNDING, event_id=stored(event_id).pk, now=now)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def test_a_message_in_hand_is_left_alone_by_every_other_worker(in_transit):
    store(message(in_transit, EventKind.FINAL, id="settled"))
    others = []

    class Slow(FundingTransfer):
        def lock(self, row_id):
            others.append(by_another_worker("settled"))
            return super().lock(row_id)

    ours = messages.apply(Slow(), event_id=stored("settled").pk, now=NOW)

    assert (ours, others) == (True, [False])
    assert (stored("settled").outcome, stored("settled").note) == (InboundOutcome.APPLIED, "")


def test_a_return_waits_for_the_settlement_that_another_worker_has_in_hand(in_transit):
    store(message(in_transit, EventKind.FINAL, id="settled"))
    store(message(in_transit, EventKind.RETURNED, id="returned", code="R01"))

    with transaction.atomic():
        InboundEvent.objects.select_for_update().get(event_id="settled")
        assert by_another_worker("returned") is False

    assert [messages.apply_new(FUNDING, now=NOW) for _ in range(2)] == [2, 0]
    in_transit.refresh_from_db()
    assert (in_transit.status, in_transit.returned) == ("failed", True)
    assert in_transit.completed_at == NOW


def test_a_message_waits_no_more_than_an_hour_for_one_that_nobody_can_digest(in_transit):
    store(message(in_transit, EventKind.FINAL, id="settled"))
    store(message(in_transit, EventKind.RETURNED, id="returned", code="R01"))
    hour = NOW + judging.WAITS_AT_MOST

    with transaction.atomic():
        InboundEvent.objects.select_for_update().get(event_id="settled")
        assert by_another_worker("returned", hour - timedelta(seconds=1)) is False
        assert by_another_worker("returned", hour) is True

    in_transit.refresh_from_db()
    assert (in_transit.status, in_transit.completed_at) == ("failed", None)
