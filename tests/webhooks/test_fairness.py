"""How much of the senders one endpoint gets, most of all one that fails."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import ids
from tests.builders import NOW, make_endpoint, publish
from tests.webhooks.claiming import BROKEN, OK, claim, record
from webhooks.dispatcher import claims
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, LEASE
from webhooks.models import WebhookDelivery, WebhookEndpoint

pytestmark = pytest.mark.django_db


class TestFairness:
    def test_a_long_queue_leaves_room_for_the_others(self, acme, rival):
        flooded, quiet = make_endpoint(acme), make_endpoint(rival)
        for _ in range(30):
            publish(acme)
        publish(rival, now=NOW + timedelta(seconds=5))

        jobs = claim(slots=6, now=NOW + timedelta(seconds=5))

        assert [job.endpoint_id for job in jobs].count(quiet.pk) == 1
        assert [job.endpoint_id for job in jobs].count(flooded.pk) == 5

    def test_an_endpoint_has_at_most_ten_in_flight(self, acme):
        make_endpoint(acme)
        for _ in range(15):
            publish(acme)

        first = claim()
        assert len(first) == IN_FLIGHT_PER_ENDPOINT
        assert claim() == []

        record(first[:4], OK)
        assert len(claim()) == 4

    def test_finds_what_is_in_flight_behind_what_waits_for_it(self, acme):
        make_endpoint(acme)
        for _ in range(IN_FLIGHT_PER_ENDPOINT):
            payment = ids.new("ftx")
            for sequence in range(1, 5):
                publish(acme, payment_id=payment, sequence=sequence)
        later = NOW + timedelta(seconds=1)
        for _ in range(5):
            publish(acme, now=later)

        assert len(claim(now=later)) == IN_FLIGHT_PER_ENDPOINT
        assert claim(now=later) == []

    def test_an_expired_lease_leaves_its_place_in_flight(self, acme):
        make_endpoint(acme)
        for _ in range(15):
            publish(acme)
        lost = {job.delivery_id for job in claim()}

        again = {job.delivery_id for job in claim(now=NOW + LEASE)}

        assert (again, len(lost)) == (lost, IN_FLIGHT_PER_ENDPOINT)

    def test_an_endpoint_with_all_in_flight_takes_no_place(self, acme, monkeypatch):
        monkeypatch.setattr(claims, "ENDPOINTS_PER_CLAIM", 1)
        for _ in range(3):
            make_endpoint(acme)
        publish(acme)

        served = [job.endpoint_id for _ in range(3) for job in claim()]

        assert len(set(served)) == 3

    def test_the_oldest_goes_first(self, acme):
        make_endpoint(acme)
        events = [publish(acme, now=NOW - timedelta(seconds=9 - number)) for number in range(9)]

        assert {job.event_id for job in claim(slots=3)} == set(events[:3])

    def test_late_retries_use_only_their_part_of_the_slots(self, acme, rival):
        make_endpoint(acme)
        make_endpoint(rival)
        for _ in range(4):
            publish(acme)
            publish(rival)
        WebhookDelivery.objects.filter(tenant=acme).update(failures=claims.RETRY_FROM_FAILURES)

        jobs = claim(slots=6, retry_slots=1)

        assert sorted(job.failures for job in jobs) == [0, 0, 0, 0, 2]

    def test_the_walk_goes_on_where_it_stopped(self, acme):
        endpoints = sorted(make_endpoint(acme).pk for _ in range(5))
        publish(acme)

        seen, after = [], ""
        for _ in range(3):
            claimed = claims.claim(slots=2, retry_slots=1, after=after, now=NOW)
            seen += sorted(job.endpoint_id for job in claimed.jobs)
            after = claimed.resume_after

        assert seen == endpoints
        assert after == ""

    def test_the_walk_is_bounded_where_nothing_is_ready(self, acme, monkeypatch):
        monkeypatch.setattr(claims, "_WALK_MIN", 2)
        endpoints = sorted(make_endpoint(acme).pk for _ in range(3))
        publish(acme)

        steps, after = [], ""
        for _ in range(2):
            claimed = claims.claim(
                slots=1, retry_slots=1, after=after, now=NOW - timedelta(seconds=1)
            )
            after = claimed.resume_after
            steps.append((claimed.jobs, after))

        assert steps == [([], endpoints[1]), ([], "")]

    def test_what_waits_for_one_in_flight_takes_no_turn(self, acme):
        make_endpoint(acme)
        payment = ids.new("ftx")
        publish(acme, payment_id=payment)
        assert len(claim()) == 1
        for sequence in (2, 3):
            publish(acme, payment_id=payment, sequence=sequence)
        other = publish(acme)

        (job,) = claim(slots=1)

        assert job.event_id == other


class TestBreaker:
    @pytest.fixture
    def failing(self, acme):
        return make_endpoint(acme, consecutive_failures=5, first_failure_at=NOW)

    def test_lets_one_probe_through(self, acme, failing):
        for _ in range(4):
            publish(acme)

        assert len(claim()) == 1
        assert claim() == []

    def test_pauses_between_probes_and_costs_the_others_no_try(self, acme, failing):
        for _ in range(3):
            publish(acme)

        record(claim(), BROKEN)

        failing.refresh_from_db()
        assert failing.consecutive_failures == 6
        assert failing.paused_until == NOW + timedelta(seconds=2)
        assert claim(now=NOW + timedelta(seconds=1)) == []
        assert [job.attempt for job in claim(now=NOW + timedelta(seconds=2))] == [1]

    def test_closes_after_a_success(self, acme, failing):
        for _ in range(12):
            publish(acme)

        record(claim(), OK)

        assert len(claim()) == IN_FLIGHT_PER_ENDPOINT

    def test_never_pauses_longer_than_a_minute(self, acme, failing):
        WebhookEndpoint.objects.update(consecutive_failures=5_000)
        publish(acme)

        record(claim(), BROKEN)

        failing.refresh_from_db()
        assert failing.paused_until == NOW + timedelta(seconds=60)
