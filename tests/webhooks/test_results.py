"""What a recorded result does to a delivery and to its endpoint's health."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.engine.http.client import Answer, Failure
from tests.builders import NOW, make_endpoint, publish
from tests.webhooks.claiming import BROKEN, OK, claim, record, result_of
from webhooks.dispatcher import results
from webhooks.dispatcher.claims import LEASE
from webhooks.models import WebhookDelivery
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db


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
            result_of(job, answer, now=NOW + timedelta(seconds=number))
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
