"""A dispatcher records in halves, and loses no result that it can still record."""

from __future__ import annotations

import time

import pytest
from django.db import connection
from structlog.testing import capture_logs

from common.clock import utc_now
from common.engine.database_thread import DatabaseThread
from tests.builders import make_endpoint, publish
from tests.database import owner
from tests.webhooks.dispatching import Clock, deliver
from webhooks import metrics
from webhooks.dispatcher import claims, loop, results
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, Claim
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)


class Watched(DatabaseThread):
    """A dispatcher's database that notes the sizes of batches and of claims. `before` is called
    with each batch before it is recorded, and `after` once it is, in the database's thread."""

    def __init__(self, *, before=lambda _batch: None, after=lambda: None):
        super().__init__()
        self.before, self.after = before, after
        self.tried, self.claimed = [], []

    def run(self, work, *args, **kwargs):
        return super().run(self._noted, work, *args, **kwargs)

    def _noted(self, work, *args, **kwargs):
        is_recording = work is results.record
        if is_recording:
            self.tried.append(len(args[0]))
            self.before(args[0])
        done = work(*args, **kwargs)
        if is_recording:
            self.after()
        if isinstance(done, Claim):
            self.claimed.append(len(done.jobs))
        return done


def end_the_session():
    """The server ends this thread's session, as when it shuts down: the next statement fails."""
    connection.ensure_connection()
    other = owner.another_connection()
    with other.cursor() as cursor:
        backend = connection.connection.info.backend_pid
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
        assert cursor.fetchone() == (True,)
    other.close()


def lose_the_answer():
    """The session ends after the commit, before its answer has come."""
    end_the_session()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


class Times:
    """Does something the first times, and nothing from then on."""

    def __init__(self, times, act):
        self.left, self._act = times, act

    def __call__(self, *_):
        if self.left:
            self.left -= 1
            self._act()


@pytest.fixture
def impatient(monkeypatch):
    """A dispatcher that looks for its database again after 50 ms."""
    monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)


@pytest.fixture
def two_hundred(acme, receiver):
    """20 endpoints, with as much for each as it may have in flight."""
    for _ in range(20):
        make_endpoint(acme, url=receiver.url("/slow/0.3"))
    for _ in range(IN_FLIGHT_PER_ENDPOINT):
        publish(acme, now=utc_now())


@pytest.mark.usefixtures("impatient")
class TestRecording:
    def test_that_fails_is_made_up_for_before_more_is_sent(self, acme, receiver):
        make_endpoint(acme, url=receiver.url())
        for _ in range(12):
            publish(acme, now=utc_now())
        sent = []
        failing = Times(5, end_the_session)

        def note(_batch):
            sent.append(len(receiver.requests))
            failing()

        deliver(slots=2, database=Watched(before=note))

        assert failing.left == 0
        assert sent[5] <= 4  # what was being sent, and what was claimed meanwhile
        assert len(receiver.requests) == WebhookAttempt.objects.count() == 12
        assert not WebhookDelivery.objects.exclude(status=DeliveryStatus.DELIVERED).exists()

    def test_whose_commit_got_no_answer_counts_once(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/500"))
        for _ in range(3):
            publish(acme, now=utc_now())
        database = Watched(after=Times(1, lose_the_answer))

        deliver(clock=Clock(), database=database)

        assert sum(database.tried) > 3  # some of them were recorded twice
        assert len(receiver.requests) == WebhookAttempt.objects.count() == 3
        assert WebhookEndpoint.objects.get().consecutive_failures == 3
        assert set(WebhookDelivery.objects.values_list("failures", flat=True)) == {1}

    @pytest.mark.usefixtures("two_hundred")
    def test_after_an_outage_longer_than_a_lease_sends_nothing_twice(self, receiver):
        clock = Clock()
        started = clock.now

        def away_until_all_came_back_and_leases_ended(batch):
            if clock.now > started:
                return
            if len(batch) == 200:
                clock.now += claims.LEASE
            end_the_session()

        database = Watched(before=away_until_all_came_back_and_leases_ended)
        deliver(clock=clock, database=database)

        assert database.tried[-1] == 200
        assert len(receiver.requests) == WebhookAttempt.objects.count() == 200
        assert not WebhookDelivery.objects.exclude(status=DeliveryStatus.DELIVERED).exists()


@pytest.mark.usefixtures("two_hundred")
class TestSizes:
    def test_half_of_what_is_under_way_is_recorded_at_a_time_but_no_small_part(self):
        """All come back while the first are being recorded."""

        def wait_for_all():
            end = time.monotonic() + 10
            while metrics.IN_FLIGHT._value.get() > before and time.monotonic() < end:
                time.sleep(0.01)

        before = metrics.IN_FLIGHT._value.get()
        database = Watched(before=Times(1, wait_for_all))

        deliver(database=database)

        first, *others = database.tried
        assert first <= 100
        left, halves = 200 - first, []
        while left:
            halves.append(min(left, max(left // 2, 64)))
            left -= halves[-1]
        assert others == halves

    def test_128_are_claimed_at_a_time(self):
        database = Watched()

        deliver(database=database)

        assert [size for size in database.claimed if size] == [128, 72]


@pytest.mark.usefixtures("impatient")
class TestStop:
    @pytest.fixture
    def going(self, acme, receiver):
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        publish(acme, now=utc_now())
        return lambda: not receiver.requests

    def test_tries_again_to_record_what_was_sent(self, receiver, going):
        database = Watched(before=Times(3, end_the_session))

        deliver(goes_on=going, database=database)

        assert (database.tried, len(receiver.requests)) == ([1] * 4, 1)
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED

    def test_ends_in_time_and_says_what_it_lost(self, going, monkeypatch):
        monkeypatch.setattr(loop, "_FINISH_SECONDS", 0.5)
        database = Watched(before=lambda _batch: end_the_session())
        started = time.monotonic()

        with capture_logs() as logs:
            deliver(goes_on=going, database=database)

        assert time.monotonic() - started < 5
        assert len(database.tried) > 1
        assert [(line["event"], line["count"]) for line in logs if "count" in line] == [
            ("results_lost", 1)
        ]
        delivery = WebhookDelivery.objects.get()
        assert (delivery.status, delivery.leased_until is None) == (DeliveryStatus.PENDING, False)
