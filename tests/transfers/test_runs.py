"""A sweep that had as much to do as one run takes is followed by another at once."""

from __future__ import annotations

import pytest
from celery import current_app

from common.engine import wakeups
from config.celery import app
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import messages

pytestmark = pytest.mark.django_db(transaction=True)

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
