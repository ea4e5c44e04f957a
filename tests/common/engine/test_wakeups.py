"""Wake-ups: sent after commit, quickly given up when the broker is away."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from celery import current_app
from django.db import transaction

from common.clock import utc_now
from common.engine import wakeups
from common.engine.cooldown import CoolDown
from common.engine.wakeups import enqueue_next, enqueue_on_commit


@pytest.fixture
def broker(monkeypatch):
    """Points the wake-ups at another broker."""

    def use(url: str) -> None:
        monkeypatch.setattr(current_app.conf, "broker_url", url)
        monkeypatch.setattr(current_app.conf, "broker_write_url", url)
        monkeypatch.setattr(wakeups, "_broker_down", CoolDown(seconds=60))
        wakeups._producers.cache_clear()

    yield use
    wakeups._producers.cache_clear()


def seconds_until(moment: str) -> float:
    return (datetime.fromisoformat(moment) - utc_now()).total_seconds()


@pytest.fixture
def sent(monkeypatch):
    names = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, **options: names.append((name, options["kwargs"]))
    )
    return names


@pytest.mark.django_db(transaction=True)
class TestAfterCommit:
    def test_is_sent_then_and_not_before(self, sent):
        with transaction.atomic():
            enqueue_on_commit("tenants.send_due_emails", hint="x")
            assert sent == []

        assert wakeups.flush(seconds=30)
        assert sent == [("tenants.send_due_emails", {"hint": "x"})]

    def test_that_cannot_be_sent_raises_nothing_after_the_commit(self, sent):
        class Unprintable:
            def __repr__(self):
                raise RuntimeError("no words")

        with transaction.atomic():
            enqueue_on_commit("tenants.send_due_emails", hint=Unprintable())
            enqueue_on_commit("tenants.send_due_emails", hint="x")

        assert wakeups.flush(seconds=30)
        assert sent == [("tenants.send_due_emails", {"hint": "x"})]

    def test_of_a_busy_process_is_repeated_after_a_while_and_no_other_waits_for_it(self, sent):
        began = time.monotonic()
        enqueue_on_commit("tenants.send_due_emails", hint="again")
        assert wakeups.flush(seconds=30)
        for _ in range(5):
            enqueue_on_commit("tenants.send_due_emails", hint="again")
        enqueue_on_commit("tenants.send_due_emails", hint="another")

        assert wakeups.flush(seconds=30)

        assert time.monotonic() - began >= wakeups._REPEAT_SECONDS
        assert [given["hint"] for _, given in sent] == ["again", "another", "again"]

    def test_of_a_run_that_left_more_to_do_is_sent_at_once(self, sent):
        for _ in range(4):
            enqueue_next("tenants.send_due_emails")
            assert wakeups.flush(seconds=0.2)

        assert len(sent) == 4

    def test_is_forgotten_on_rollback(self, sent):
        with transaction.atomic():
            enqueue_on_commit("tenants.send_due_emails")
            transaction.set_rollback(True)

        assert wakeups.flush(seconds=30)
        assert sent == []

    def test_arrives_at_the_broker(self, broker, settings):
        broker("memory://")
        with current_app.connection_for_read() as connection:
            queue = connection.SimpleQueue("celery")
            queue.clear()  # the whole process shares it, with what other tests sent

            enqueue_on_commit("tenants.send_due_emails")

            message = queue.get(timeout=30)
            assert message.headers["task"] == "tenants.send_due_emails"
            assert 0 < seconds_until(message.headers["expires"]) <= 60
            queue.clear()


@pytest.mark.django_db(transaction=True)
class TestBrokerAway:
    @pytest.mark.parametrize(
        "url",
        ["redis://127.0.0.1:1/0", "redis+socket:///nowhere/valkey.sock?virtual_host=0"],
    )
    def test_costs_little_and_raises_nothing(self, broker, log, url):
        broker(url)

        started = time.monotonic()
        enqueue_on_commit("tenants.send_due_emails")

        assert time.monotonic() - started < 2  # Celery on its own: 5 to 6 s
        assert wakeups.flush(seconds=4)
        (line,) = log.lines
        assert (line["event"], line["task"]) == ("wake_up_lost", "tenants.send_due_emails")

    def test_silent_costs_one_short_wait_for_many_wake_ups(self, broker, silent_server, log):
        broker(f"redis://127.0.0.1:{silent_server}/0")

        started = time.monotonic()
        for number in range(20):
            enqueue_on_commit("tenants.send_due_emails", hint=number)

        assert time.monotonic() - started < 2  # Celery on its own: 5 to 6 s
        assert wakeups.flush(seconds=4)
        assert [line["event"] for line in log.lines] == ["wake_up_lost"]

    def test_the_work_is_committed_all_the_same(self, broker, acme):
        broker("redis://127.0.0.1:1/0")

        with transaction.atomic():
            type(acme).objects.filter(pk=acme.pk).update(name="Acme 2")
            enqueue_on_commit("tenants.send_due_emails")

        acme.refresh_from_db()
        assert acme.name == "Acme 2"


class TestCoolDown:
    def test_is_over_until_it_begins_and_again_later(self):
        pause = CoolDown(seconds=0.5)
        assert pause.is_over

        pause.begin()
        assert not pause.is_over

        deadline = time.monotonic() + 30
        while not pause.is_over:
            assert time.monotonic() < deadline
