"""A dispatcher records in halves, and loses no result that it can still record."""

from __future__ import annotations

import time

import pytest
from django.db import OperationalError
from structlog.testing import capture_logs

from common.clock import utc_now
from tests.builders import make_endpoint, publish
from tests.webhooks.dispatching import Clock, deliver
from webhooks.dispatcher import claims, loop, results
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db(transaction=True)


class TestRecording:
    def test_that_fails_is_made_up_for_before_more_is_sent(self, acme, receiver, monkeypatch):
        make_endpoint(acme, url=receiver.url())
        for _ in range(12):
            publish(acme, now=utc_now())
        sent, record = [], results.record

        def busy_for_a_while(batch, *, now):
            sent.append(len(receiver.requests))
            if len(sent) <= 5:
                raise OperationalError("canceling statement due to lock timeout")
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", busy_for_a_while)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)

        deliver(slots=2)

        assert sent[5] <= 4  # what was being sent, and what was claimed meanwhile
        assert len(receiver.requests) == WebhookAttempt.objects.count() == 12

    def test_whose_commit_got_no_answer_counts_once(self, acme, receiver, monkeypatch):
        make_endpoint(acme, url=receiver.url("/500"))
        for _ in range(3):
            publish(acme, now=utc_now())
        lost: list[set[str]] = []
        record = results.record

        def lose_the_first_answer(batch, *, now):
            counted = record(batch, now=now)
            if not lost:
                lost.append(counted)
                raise OperationalError("server closed the connection unexpectedly")
            return counted

        monkeypatch.setattr(results, "record", lose_the_first_answer)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)

        deliver(clock=Clock())

        assert len(receiver.requests) == WebhookAttempt.objects.count() == 3
        assert WebhookEndpoint.objects.get().consecutive_failures == 3
        assert set(WebhookDelivery.objects.values_list("failures", flat=True)) == {1}

    def test_after_an_outage_longer_than_a_lease_sends_nothing_twice(
        self, acme, receiver, monkeypatch
    ):
        for _ in range(20):
            make_endpoint(acme, url=receiver.url())
        for _ in range(IN_FLIGHT_PER_ENDPOINT):
            publish(acme, now=utc_now())
        clock, record = Clock(), results.record
        started = clock.now

        def away_until_all_came_back_and_leases_ended(batch, *, now):
            if clock.now > started:
                return record(batch, now=now)
            if len(batch) == 200:
                clock.now += claims.LEASE
            raise OperationalError("the database system is shutting down")

        monkeypatch.setattr(results, "record", away_until_all_came_back_and_leases_ended)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)

        deliver(clock=clock)

        assert len(receiver.requests) == WebhookAttempt.objects.count() == 200

    def test_takes_half_of_what_is_under_way_at_a_time(self, acme, receiver, monkeypatch):
        for _ in range(20):
            make_endpoint(acme, url=receiver.url())
        for _ in range(IN_FLIGHT_PER_ENDPOINT):
            publish(acme, now=utc_now())
        sizes: list[int] = []
        record = results.record

        def slow_at_first(batch, *, now):
            if not sizes:
                while len(receiver.requests) < 200:
                    time.sleep(0.01)
                time.sleep(0.2)
            sizes.append(len(batch))
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", slow_at_first)

        deliver()

        assert sum(sizes) == 200
        assert max(sizes) <= 100

    def test_claims_128_at_a_time(self, acme, receiver, monkeypatch):
        for _ in range(20):
            make_endpoint(acme, url=receiver.url())
        for _ in range(IN_FLIGHT_PER_ENDPOINT):
            publish(acme, now=utc_now())
        sizes: list[int] = []
        claim = claims.claim

        def noted(**values):
            claimed = claim(**values)
            sizes.append(len(claimed.jobs))
            return claimed

        monkeypatch.setattr(claims, "claim", noted)

        deliver()

        assert sum(sizes) == 200
        assert max(sizes) == 128


class TestStop:
    @pytest.fixture
    def busy(self, monkeypatch):
        """A database that cannot record until the list is empty."""
        refusals: list[None] = []
        record = results.record

        def refuse(batch, *, now):
            if refusals:
                refusals.pop()
                raise OperationalError("canceling statement due to lock timeout")
            return record(batch, now=now)

        monkeypatch.setattr(results, "record", refuse)
        monkeypatch.setattr(loop, "_DATABASE_AWAY_SECONDS", 0.05)
        return refusals

    def test_tries_again_to_record_what_was_sent(self, acme, receiver, busy):
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        publish(acme, now=utc_now())
        busy += [None] * 3

        deliver(goes_on=lambda: not receiver.requests)

        assert (busy, len(receiver.requests)) == ([], 1)
        assert WebhookDelivery.objects.get().status == DeliveryStatus.DELIVERED

    def test_ends_in_time_and_says_what_it_lost(self, acme, receiver, busy, monkeypatch):
        monkeypatch.setattr(loop, "_FINISH_SECONDS", 0.5)
        make_endpoint(acme, url=receiver.url("/slow/0.1"))
        publish(acme, now=utc_now())
        busy += [None] * 1_000

        with capture_logs() as logs:
            deliver(goes_on=lambda: not receiver.requests)

        assert [(line["event"], line["count"]) for line in logs if "count" in line] == [
            ("results_lost", 1)
        ]
        assert len(busy) > 900
