"""Which messages a worker takes next, and which it leaves to others."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from networks.base import EventKind
from tests.builders import NOW
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers.inbox import arrivals
from transfers.inbox.models import InboundEvent
from transfers.inbox.queue import Queue

ACCEPTED, FINAL, REJECTED = EventKind.ACCEPTED, EventKind.FINAL, EventKind.REJECTED
KINDS = frozenset({ACCEPTED, FINAL})
SECOND = timedelta(seconds=1)

pytestmark = pytest.mark.django_db


@pytest.fixture(params=list(DIRECTIONS.values()), ids=list(DIRECTIONS))
def money(request):
    return request.param


@pytest.fixture
def rows(acme, money):
    return [money.make(acme, 100 + number) for number in range(3)]


def said(money, *messages, at=NOW):
    """Messages `(row, kind, id)`, in this order."""
    told = [message(row, kind, id=id) for row, kind, id in messages]
    network = ScriptedNetwork(*told)
    arrivals.collect(network=network, id_prefix=money.transfer.id_prefix, now=at)


def put_off(event_id, until):
    InboundEvent.objects.filter(event_id=event_id).update(next_attempt_at=until)


def queue(money, now=NOW, kinds=KINDS):
    return Queue(handler=money.transfer, kinds=kinds, now=now)


def together(money, *, limit=9, passed=(), kept=(), now=NOW):
    with transaction.atomic():
        found = queue(money, now).together(limit=limit, passed=passed, kept=kept)
    return [event.event_id for event in found]


def alone(money, *, passed=(), end=None, kinds=KINDS):
    with transaction.atomic():
        found = queue(money, kinds=kinds).alone(passed, end)
    return [event.event_id for event in found]


def pk(event_id):
    return InboundEvent.objects.get(event_id=event_id).pk


def test_of_each_row_the_first_is_taken_in_the_order_of_the_queue(money, rows):
    a, b, c = rows
    said(
        money,
        (a, ACCEPTED, "a1"),
        (b, ACCEPTED, "b1"),
        (a, FINAL, "a2"),
        (c, ACCEPTED, "c1"),
        (b, FINAL, "b2"),
    )

    assert together(money) == ["a1", "b1", "c1"]
    assert together(money, limit=2) == ["a1", "b1"]
    assert together(money, passed=[pk("a1"), pk("c1")]) == ["b1", "a2"]


def test_what_could_not_be_looked_at_is_not_taken_and_not_overtaken(money, rows):
    a, b, _ = rows
    said(money, (a, ACCEPTED, "a1"), (a, FINAL, "a2"), (b, ACCEPTED, "b1"))

    assert together(money, kept=[pk("a1")]) == ["b1"]
    assert together(money, kept=[pk("a1")], passed=[pk("a1")]) == ["a2", "b1"]


def test_what_was_put_off_keeps_nothing_back(money, rows):
    """It is behind the others of its row by now, and none of these waits for it here."""
    said(money, (rows[0], ACCEPTED, "first"), (rows[0], FINAL, "second"))
    put_off("first", NOW + SECOND)

    assert together(money) == ["second"]
    assert together(money, now=NOW + SECOND) == ["second"]


def test_what_is_not_due_or_is_for_another_handler_is_not_taken(money, rows, acme):
    other = DIRECTIONS["out" if money is DIRECTIONS["in"] else "in"]
    said(money, (rows[0], FINAL, "later"), at=NOW + SECOND)
    said(other, (other.make(acme, 100), FINAL, "theirs"))

    assert together(money) == []
    assert together(other) == ["theirs"]


def test_what_failed_before_and_every_other_kind_goes_alone(money, rows):
    a, b, c = rows
    said(money, (a, REJECTED, "a1"), (b, FINAL, "b1"), (c, FINAL, "c1"), (a, FINAL, "a2"))
    InboundEvent.objects.filter(event_id="c1").update(attempts=1)

    assert together(money) == ["b1"]
    assert alone(money) == ["a1"]
    assert alone(money, passed=[pk("a1")]) == ["c1"]
    assert alone(money, passed=[pk("a1"), pk("c1")]) == []
    assert alone(money, passed=[pk("a1")], kinds=()) == ["b1"]


def test_what_is_behind_the_end_of_a_set_is_left(money, rows):
    a, b, c = rows
    said(money, (a, FINAL, "a1"), (b, REJECTED, "b1"), (c, REJECTED, "c1"))

    def end(event_id):
        return InboundEvent.objects.get(event_id=event_id)

    assert alone(money, end=end("a1")) == []
    assert alone(money, end=end("b1")) == ["b1"]
    assert alone(money, end=end("b1"), passed=[pk("b1")]) == []
