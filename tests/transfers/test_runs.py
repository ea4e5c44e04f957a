"""A sweep that had as much to do as one run takes is followed by another at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from celery import current_app
from django.conf import settings

from common.engine import wakeups
from config.celery import app
from networks.sandbox.bank import SandboxBank
from tests.builders import NOW
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent

pytestmark = pytest.mark.django_db(transaction=True)

LATER = NOW + timedelta(seconds=5)
APPS = {"in": "funding", "out": "payments"}

app.loader.import_default_modules()


@pytest.fixture
def sent(monkeypatch):
    """The names of the tasks that were enqueued."""
    assert wakeups.flush(seconds=30)
    names: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **_: names.append(name))
    return names


@pytest.mark.parametrize("name", DIRECTIONS)
def test_each_kind_of_run_goes_on_until_little_is_left(acme, name, sent, monkeypatch):
    money = DIRECTIONS[name]
    submit, apply = f"{APPS[name]}.submit_due", f"{APPS[name]}.process_network_events"
    for _ in range(3):
        money.make(acme, 100)
    monkeypatch.setattr(submission, "RUN_MAX", 2)
    monkeypatch.setattr(messages, "RUN_MAX", 4)

    def enqueued_by(task):
        assert wakeups.flush(seconds=30)
        sent.clear()
        app.tasks[task].run()
        assert wakeups.flush(seconds=30)
        return task in sent

    assert [enqueued_by(submit) for _ in range(2)] == [True, False]
    assert [enqueued_by(apply) for _ in range(2)] == [True, False]


@pytest.mark.parametrize("name", DIRECTIONS)
def test_a_whole_page_of_messages_is_followed_by_the_next(acme, name, monkeypatch):
    money = DIRECTIONS[name]
    money.make(acme, 100)
    submission.submit_due(money.transfer, now=NOW)
    monkeypatch.setattr(arrivals, "POLL_BATCH", 2)

    assert [wakes(money) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("name", DIRECTIONS)
def test_a_network_that_repeats_itself_keeps_no_worker_busy(acme, name, connect, monkeypatch):
    class Forgetful(SandboxBank):
        def acknowledge(self, event_ids):
            """Forget it at once."""

    connect(Forgetful())
    money = DIRECTIONS[name]
    money.make(acme, 100)
    submission.submit_due(money.transfer, now=NOW)
    monkeypatch.setattr(arrivals, "POLL_BATCH", 2)

    assert [wakes(money) for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("name", DIRECTIONS)
def test_another_worker_takes_the_next_page_while_this_one_is_applied(acme, name, monkeypatch):
    money = DIRECTIONS[name]
    ids = [money.make(acme, 100).pk for _ in range(4)]
    submission.submit_due(money.transfer, now=NOW)
    monkeypatch.setattr(arrivals, "POLL_BATCH", 4)
    monkeypatch.setattr(settings, "NETWORK_MESSAGES_PER_SET", 2)
    waiting = InboundEvent.objects.filter(instruction_id__in=ids, outcome="new")
    at_wake: list[int] = []

    messages.run(money.transfer, now=LATER, wake=lambda: at_wake.append(waiting.count()))

    assert at_wake == [2]  # of the page's four messages two were applied then


def wakes(money):
    """How often a run wakes another worker."""
    calls: list[None] = []
    messages.run(money.transfer, now=LATER, wake=lambda: calls.append(None))
    return len(calls)
