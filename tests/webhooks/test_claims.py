from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection

from common import ids
from common.http.client import Answer, Failure
from tests.builders import NOW, make_endpoint, publish
from webhooks.dispatcher import claims, outcomes, results
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, LEASE, ORDER_WAIT
from webhooks.models import DisabledReason, WebhookDelivery, WebhookEndpoint
from webhooks.services import deliveries, events
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db

OK = Answer(status=200)
BROKEN = Answer(status=500)


def claim(*, slots=200, retry_slots=100, now=NOW, after=""):
    return claims.claim(slots=slots, retry_slots=retry_slots, after=after, now=now).jobs


def record(jobs, answer, *, now=NOW, jitter=0.0):
    done = [
        results.Result(
            job=job,
            answer=answer,
            outcome=outcomes.judge(answer, failures=job.failures, jitter=jitter, now=now),
            started_at=now,
        )
        for job in jobs
    ]
    return results.record(done, now=now)


def updates():
    """How many deliveries this transaction updated, and how many of them in place."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'webhooks_webhookdelivery'"
        )
        return cursor.fetchone()


def due_at(event_id):
    return WebhookDelivery.objects.get(event_id=event_id).next_attempt_at


class TestClaim:
    def test_hands_out_everything_a_try_needs(self, acme):
        endpoint = make_endpoint(acme, url="https://hooks.example.com/a")
        event_id = publish(acme)

        (job,) = claim()

        delivery = WebhookDelivery.objects.get()
        assert (job.delivery_id, job.event_id, job.endpoint_id) == (
            delivery.pk, event_id, endpoint.pk,
        )  # fmt: skip
        assert (job.attempt, job.failures, job.lease_version) == (1, 0, 1)
        assert (job.url, job.mode, job.queued_at) == (endpoint.url, "sandbox", NOW)
        assert job.secret_token == endpoint.secret_token
        assert job.body == bytes(delivery.event.body)

    def test_leases_what_it_hands_out(self, acme):
        make_endpoint(acme)
        publish(acme)

        assert len(claim()) == 1
        assert claim() == []

        delivery = WebhookDelivery.objects.get()
        assert (delivery.next_attempt_at, delivery.leased_until) == (NOW, NOW + LEASE)

    def test_writes_no_index(self, acme):
        """HOT: an update that changes no indexed value writes no index."""
        make_endpoint(acme)
        for _ in range(5):
            publish(acme)
        before = updates()

        jobs = claim()
        assert updates() == (before[0] + 5, before[1] + 5)

        record(jobs, OK)
        assert updates() == (before[0] + 10, before[1] + 5)

    def test_takes_again_what_a_dead_dispatcher_left(self, acme):
        make_endpoint(acme)
        publish(acme)
        (first,) = claim()

        (second,) = claim(now=NOW + LEASE)

        assert second.delivery_id == first.delivery_id
        assert (second.attempt, second.failures, second.lease_version) == (2, 0, 2)

    def test_honors_a_lease_that_moved_the_due_time(self, acme):
        """As the versions before migration 0006 took it."""
        make_endpoint(acme)
        publish(acme)
        until = NOW + LEASE
        WebhookDelivery.objects.update(next_attempt_at=until, leased_until=until, lease_version=1)

        assert claim(now=until - timedelta(microseconds=1)) == []
        assert [(job.lease_version, job.is_reclaimed) for job in claim(now=until)] == [(2, True)]

    def test_leaves_what_is_not_due_yet(self, acme):
        make_endpoint(acme)
        publish(acme, now=NOW + timedelta(seconds=1))

        assert claim() == []
        assert len(claim(now=NOW + timedelta(seconds=1))) == 1

    def test_costs_one_statement(self, acme, django_assert_num_queries):
        make_endpoint(acme)
        publish(acme)

        with django_assert_num_queries(1):
            assert len(claim()) == 1

    def test_of_an_empty_queue_is_empty(self):
        assert claims.claim(slots=10, retry_slots=5, now=NOW) == claims.Claim([], "", parked=0)


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


class TestOrder:
    @pytest.fixture
    def payment(self, acme):
        make_endpoint(acme)
        return ids.new("ftx")

    def test_a_later_event_of_a_payment_waits_for_the_earlier(self, acme, payment):
        first = publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)

        (job,) = claim()
        assert job.event_id == first
        assert claim() == []

        record([job], OK)
        assert [job.event_id for job in claim()] == [second]

    def test_other_payments_do_not_wait(self, acme, payment):
        first = publish(acme, payment_id=payment, sequence=1)
        publish(acme, payment_id=payment, sequence=2)
        other = publish(acme)

        assert {job.event_id for job in claim()} == {first, other}

    def test_waits_through_the_retries_of_the_earlier(self, acme, payment):
        publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        third = publish(acme, payment_id=payment, sequence=3)
        record(claim(), BROKEN)

        assert claim() == []
        assert due_at(second) == due_at(third) == NOW + ORDER_WAIT

        soon = NOW + timedelta(seconds=5)
        record(claim(now=soon), OK, now=soon)
        assert due_at(second) == due_at(third) == soon
        (job,) = claim(now=soon)
        record([job], OK, now=soon)
        assert (job.event_id, [job.event_id for job in claim(now=soon)]) == (second, [third])

    def test_one_that_failed_before_waits_no_longer_than_the_others(self, acme, payment):
        publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        WebhookDelivery.objects.filter(event_id=second).update(failures=1)
        record(claim(), BROKEN)
        assert claim() == []

        soon = NOW + timedelta(seconds=5)
        record(claim(now=soon), OK, now=soon)

        assert [job.event_id for job in claim(now=soon)] == [second]

    def test_the_end_of_an_earlier_one_hurries_no_retry(self, acme, payment):
        first = publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        retry_at = NOW + timedelta(minutes=5)
        WebhookDelivery.objects.filter(event_id=second).update(failures=3, next_attempt_at=retry_at)

        (job,) = claim()
        record([job], OK)

        assert (job.event_id, due_at(second)) == (first, retry_at)

    def test_later_events_that_came_due_first_do_not_hide_the_earlier(self, acme, payment):
        """Ten fail at once; what follows them is published while the endpoint pauses."""
        payments = [ids.new("ftx") for _ in range(IN_FLIGHT_PER_ENDPOINT)]
        earlier = {publish(acme, payment_id=of) for of in payments}
        record(claim(), BROKEN)
        for of in payments:
            publish(acme, payment_id=of, sequence=2, now=NOW + timedelta(seconds=1))

        paused_until = NOW + timedelta(seconds=32)
        probes = [job.event_id for _ in range(20) for job in claim(now=paused_until)]

        assert len(probes) == 1
        assert probes[0] in earlier

    def test_what_a_dead_dispatcher_left_makes_room_for_an_earlier_event(self, acme, payment):
        WebhookEndpoint.objects.update(consecutive_failures=5)
        later = publish(acme, payment_id=payment, sequence=2)
        assert len(claim()) == 1
        earlier = publish(acme, payment_id=payment, sequence=1, now=NOW + timedelta(seconds=1))

        assert claim(now=NOW + LEASE) == []
        assert due_at(later) == NOW + ORDER_WAIT
        assert [job.event_id for job in claim(now=NOW + LEASE)] == [earlier]

    def test_passes_after_an_hour(self, acme, payment):
        first = publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        WebhookDelivery.objects.filter(event_id=first).update(
            next_attempt_at=NOW + timedelta(hours=5), failures=5
        )

        assert claim(now=NOW + timedelta(minutes=59)) == []
        assert [job.event_id for job in claim(now=NOW + ORDER_WAIT)] == [second]

    def test_goes_on_when_the_earlier_is_given_up(self, acme, payment):
        first = publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        WebhookDelivery.objects.filter(event_id=first).update(failures=10)

        record(claim(), BROKEN)

        assert WebhookDelivery.objects.get(event_id=first).status == DeliveryStatus.FAILED
        assert [job.event_id for job in claim()] == [second]

    def test_notices_have_no_order(self, acme):
        make_endpoint(acme, events=["balance.low"])

        for _ in range(2):
            events.publish_notice(tenant_id=acme.pk, type="balance.low", data={}, now=NOW)

        assert len(claim()) == 2


class TestSwitchedOff:
    @pytest.fixture
    def off(self, acme):
        return make_endpoint(
            acme, status=EndpointStatus.DISABLED, disabled_reason=DisabledReason.TENANT
        )

    def test_gets_nothing(self, acme):
        make_endpoint(acme)
        publish(acme)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")

        assert claim() == []

    def test_gets_what_somebody_asked_for(self, acme, off):
        publish(acme)
        delivery = WebhookDelivery.objects.get()

        deliveries.resend(tenant_id=acme.pk, delivery_id=delivery.pk, now=NOW)

        assert [job.is_manual for job in claim()] == [True]


class TestRecord:
    def test_a_success_ends_the_delivery(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)
        (job,) = claim()

        counted = record([job], Answer(status=204, body=b"fine", duration_ms=12))

        delivery = WebhookDelivery.objects.get()
        assert counted == {delivery.pk}
        assert (delivery.status, delivery.next_attempt_at, delivery.leased_until) == (
            DeliveryStatus.DELIVERED, None, None,
        )  # fmt: skip
        assert (delivery.last_status_code, delivery.delivered_at) == (204, NOW)
        attempt = delivery.attempt_log.get()
        assert (attempt.number, attempt.status_code, attempt.error) == (1, 204, "")
        assert (attempt.response, attempt.duration_ms, attempt.started_at) == ("fine", 12, NOW)
        endpoint.refresh_from_db()
        assert (endpoint.last_success_at, endpoint.consecutive_failures) == (NOW, 0)

    def test_a_failure_sets_the_next_try(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)

        record(claim(), Answer(failure=Failure.TIMEOUT, duration_ms=15_000))

        delivery = WebhookDelivery.objects.get()
        assert (delivery.status, delivery.failures) == (DeliveryStatus.PENDING, 1)
        assert delivery.next_attempt_at == NOW + timedelta(seconds=5)
        assert (delivery.leased_until, delivery.last_error) == (None, "timeout")
        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.first_failure_at) == (1, NOW)

    def test_a_result_without_its_lease_changes_nothing_but_is_remembered(self, acme):
        make_endpoint(acme)
        publish(acme)
        (late,) = claim()
        (current,) = claim(now=NOW + LEASE)

        assert record([late], OK) == set()

        delivery = WebhookDelivery.objects.get()
        assert delivery.status == DeliveryStatus.PENDING
        assert [attempt.number for attempt in delivery.attempt_log.all()] == [1]
        assert record([current], OK) == {delivery.pk}

    def test_the_same_result_twice_is_one_attempt(self, acme):
        make_endpoint(acme)
        publish(acme)
        (job,) = claim()

        record([job], OK)
        record([job], OK)

        assert WebhookDelivery.objects.get().attempt_log.count() == 1

    def test_a_batch_costs_one_statement_and_one_for_what_waited(
        self, acme, django_assert_num_queries
    ):
        make_endpoint(acme)
        for _ in range(5):
            publish(acme)
        jobs = claim()

        with django_assert_num_queries(4):  # savepoint, record, release, savepoint
            record(jobs, OK)

    def test_health_counts_failures_since_the_last_success(self, acme):
        endpoint = make_endpoint(acme)
        for _ in range(4):
            publish(acme)
        one, two, three, four = claim()

        done = [
            results.Result(
                job=job,
                answer=answer,
                outcome=outcomes.judge(answer, failures=0, jitter=0.0, now=NOW),
                started_at=NOW + timedelta(seconds=number),
            )
            for number, (job, answer) in enumerate(
                [(one, BROKEN), (two, OK), (three, BROKEN), (four, BROKEN)]
            )
        ]
        results.record(done, now=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.last_success_at) == (2, NOW)
        assert endpoint.first_failure_at == NOW + timedelta(seconds=2)

    def test_a_success_forgets_the_failures(self, acme):
        endpoint = make_endpoint(
            acme, consecutive_failures=3, first_failure_at=NOW, warnings_sent=1
        )
        publish(acme)

        record(claim(), OK)

        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.first_failure_at) == (0, None)
        assert endpoint.warnings_sent == 0

    def test_what_was_asked_for_does_not_count_against_the_endpoint(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(is_manual=True)

        record(claim(), BROKEN)

        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.first_failure_at) == (0, None)

    def test_keeps_one_kibibyte_of_text_that_can_be_stored(self, acme):
        make_endpoint(acme)
        publish(acme)

        record(claim(), Answer(status=500, body=b"\0\xff" + b"a" * 5_000))

        response = WebhookDelivery.objects.get().attempt_log.get().response
        assert response == "\ufffd\ufffd" + "a" * 1022

    def test_keeps_headers_that_can_be_stored(self, acme):
        make_endpoint(acme)
        publish(acme)

        record(claim(), Answer(status=200, headers=(("Server", "a\0b\udcff"), ("X-A", "é"))))

        headers = WebhookDelivery.objects.get().attempt_log.get().response_headers
        assert headers == [["Server", "a\ufffdb?"], ["X-A", "é"]]

    def test_a_removed_endpoint_stays_canceled(self, acme):
        endpoint = make_endpoint(acme)
        publish(acme)
        (job,) = claim()
        WebhookDelivery.objects.update(
            status=DeliveryStatus.CANCELED, next_attempt_at=None, leased_until=None
        )

        assert record([job], OK) == set()
        assert endpoint.deliveries.get().status == DeliveryStatus.CANCELED


class TestRemoved:
    def test_gets_nothing_not_even_what_somebody_asked_for(self, acme):
        make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(is_manual=True)
        WebhookEndpoint.objects.update(status="removed", removed_at=NOW, secret_token="")

        assert claim() == []
        assert deliveries.put_aside(now=NOW) == 1
        assert WebhookDelivery.objects.get().status == DeliveryStatus.CANCELED
