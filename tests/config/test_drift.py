"""Every process pauses while its clock is wrong, says so, and goes on by itself."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from common import clock, database_clock, drift
from config.beat_scheduler import ClockedScheduler
from config.celery import app
from payments import tasks
from tenants.models import AuditEvent
from tests.api.machinery import NOTES
from tests.builders import NOW, browser_of, make_endpoint, make_member, publish
from tests.payments.builders import pay
from tests.webhooks.dispatching import deliver
from webhooks.dispatcher import heartbeats, loop
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


class ProcessClock:
    """The one that `common.clock` reads. It stands still; the database is right and says NOW."""

    def __init__(self):
        self.ahead = timedelta(0)

    def now(self, zone):
        return (NOW + self.ahead).astimezone(zone)

    def fromisoformat(self, text):
        return datetime.fromisoformat(text)


@pytest.fixture
def process_clock(monkeypatch, settings):
    settings.CLOCK_DRIFT_SECONDS_MAX = 5
    fake = ProcessClock()
    monkeypatch.setattr(clock, "datetime", fake)
    monkeypatch.setattr(drift, "guard", drift.Guard())
    with database_clock.at(NOW):
        yield fake


class TestGuard:
    @pytest.mark.parametrize(
        ("seconds", "is_adrift"), [(0, False), (5, False), (6, True), (-5, False), (-6, True)]
    )
    def test_allows_five_seconds_either_way(self, process_clock, seconds, is_adrift):
        process_clock.ahead = timedelta(seconds=seconds)

        assert drift.guard.is_adrift() is is_adrift

    def test_notices_a_jump_at_once_and_the_way_back(self, process_clock, log):
        assert not drift.guard.is_adrift()

        process_clock.ahead = 400 * DAY
        assert drift.guard.is_adrift()
        assert drift.guard.is_adrift()
        process_clock.ahead = timedelta(0)
        assert not drift.guard.is_adrift()

        (said,) = log.of("clock_adrift")
        assert (said["level"], said["drift_seconds"]) == ("error", 400 * 86_400)
        assert "differ by 400 days" in said["reason"]
        assert len(log.of("clock_right_again")) == 1
        assert drift._DRIFT._value.get() == 0

    def test_asks_the_database_only_now_and_then(self, process_clock, django_assert_num_queries):
        drift.guard.is_adrift()

        with django_assert_num_queries(0):
            assert not any(drift.guard.is_adrift() for _ in range(50))

        drift.guard._asked_at = time.monotonic() - drift.EVERY_SECONDS
        with django_assert_num_queries(1):
            drift.guard.is_adrift()

    def test_pauses_outside_development_on_a_database_of_development(
        self, process_clock, settings, log
    ):
        settings.SETTABLE_DATABASE_CLOCK = False

        assert drift.guard.is_adrift()
        assert "only development may" in log.of("clock_adrift")[0]["reason"]


class TestWeb:
    @pytest.mark.usefixtures("machinery")
    def test_refuses_changes_and_answers_reads(self, process_clock, acme_api):
        process_clock.ahead = 31 * DAY

        refused = acme_api.post_json(NOTES, {"amount": 1}, **{"Idempotency-Key": "k"})
        read = acme_api.get(NOTES)

        assert (refused.status_code, refused.json()["code"]) == (503, "temporarily_unavailable")
        assert "Nothing was done" in refused.json()["detail"]
        assert refused["Retry-After"] == "1"
        assert not AuditEvent.objects.filter(action="note").exists()
        assert read.status_code != 503

        process_clock.ahead = timedelta(0)
        again = acme_api.post_json(NOTES, {"amount": 1}, **{"Idempotency-Key": "k"})
        assert again.status_code == 201

    def test_tells_people_that_nothing_was_done(self, process_clock, acme):
        member = make_member(acme, email="owner@acme.example")
        browser = browser_of(member)
        process_clock.ahead = 31 * DAY

        page = browser.post("/dashboard/add-money/")

        assert page.status_code == 503
        assert "Nothing was done" in page.content.decode()

    def test_is_not_ready_and_says_why(self, process_clock, client):
        assert client.get("/readyz").status_code == 200

        process_clock.ahead = -DAY
        answer = client.get("/readyz")

        assert answer.status_code == 503
        assert answer.json() == {
            "status": "unavailable",
            "database": "ok",
            "clock": "this process's clock and the database's differ by 1 day, 0:00:00",
        }


class TestWorker:
    def test_takes_no_sweep(self, process_clock, acme):
        payment = pay(acme, 500, wait=True, now=NOW - 30 * DAY)
        process_clock.ahead = 31 * DAY

        tasks.expire_waiting()
        tasks.expire_waiting.apply()
        payment.refresh_from_db()
        assert payment.status == "waiting_for_funds"

        process_clock.ahead = timedelta(0)
        tasks.expire_waiting()
        payment.refresh_from_db()
        assert payment.status == "failed"


class TestBeat:
    @pytest.fixture
    def scheduler(self, tmp_path):
        made = ClockedScheduler(app=app, schedule_filename=str(tmp_path / "schedule"), lazy=True)
        made.setup_schedule()
        yield made
        made.close()

    def test_sends_nothing_and_then_goes_on_where_it_is(self, process_clock, scheduler):
        sent = []
        scheduler.apply_entry = lambda entry, producer=None: sent.append(entry.name)
        process_clock.ahead = 400 * DAY

        assert scheduler.tick() == drift.EVERY_SECONDS_WHILE_ADRIFT
        assert sent == []

        future = datetime.now(UTC) + 400 * DAY
        for entry in scheduler.schedule.values():
            entry.last_run_at = future
        process_clock.ahead = timedelta(0)
        scheduler.tick()

        now = datetime.now(UTC)
        assert all(entry.last_run_at <= now for entry in scheduler.schedule.values())
        assert all(event.time < time.time() + 86_500 for event in scheduler._heap)


@pytest.mark.django_db(transaction=True)
class TestDispatcher:
    def test_claims_nothing_and_leaves_the_work_to_others(self, process_clock, acme):
        make_endpoint(acme)
        publish(acme)
        process_clock.ahead = DAY

        loop._beat(name="host:1", now=clock.utc_now())
        deliver()

        assert WebhookDelivery.objects.get().attempts == 0
        assert not heartbeats.is_dispatcher_alive(now=NOW)
