"""A batch whose commit got no answer is recorded again, and changes nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps
from django.db.models import Model

from common import ids
from common.engine.http.client import Answer, Failure
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, OutgoingEmail
from tests.builders import NOW, make_endpoint, publish
from tests.webhooks.claiming import BROKEN, OK, claim, record, result_of
from webhooks.dispatcher import results
from webhooks.dispatcher.claims import LEASE, ORDER_WAIT
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.services import deliveries, endpoints, replays
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db

GONE = Answer(status=410)
SOON = NOW + timedelta(seconds=1)
KEPT: list[type[Model]] = [
    *apps.get_app_config("webhooks").get_models(),
    AuditEvent,
    OutgoingEmail,
]


def everything():
    """Each row that a result could change, whole."""
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in KEPT}


def record_twice(jobs, answer):
    """Records at `NOW`, and a second later again; nothing may have changed meanwhile."""
    counted = record(jobs, answer)
    before = everything()

    assert record(jobs, answer, now=SOON) == set()

    assert everything() == before
    return counted


class TestRecordedTwice:
    @pytest.fixture(autouse=True)
    def endpoint(self, acme):
        return make_endpoint(acme)

    @pytest.mark.parametrize(
        "answer",
        [OK, BROKEN, GONE, Answer(status=429, retry_after="60"), Answer(failure=Failure.TIMEOUT)],
        ids=["success", "failure", "gone", "busy", "timeout"],
    )
    def test_is_recorded_once(self, acme, answer):
        events = {publish(acme) for _ in range(3)}
        jobs = claim()
        assert {job.event_id for job in jobs} == events

        assert record_twice(jobs, answer) == {job.delivery_id for job in jobs}

    def test_failures_count_once_against_the_endpoint(self, acme, endpoint):
        for _ in range(3):
            publish(acme)

        record_twice(claim(), BROKEN)

        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.paused_until) == (3, None)
        assert set(WebhookDelivery.objects.values_list("failures", "attempts")) == {(1, 1)}

    def test_a_mixed_batch_is_recorded_once(self, acme, endpoint):
        for _ in range(4):
            publish(acme)
        batch = [
            result_of(job, answer)
            for job, answer in zip(claim(), [BROKEN, OK, BROKEN, BROKEN], strict=True)
        ]
        assert len(results.record(batch, now=NOW)) == 4
        before = everything()

        assert results.record(batch, now=SOON) == set()

        assert everything() == before
        endpoint.refresh_from_db()
        assert (endpoint.consecutive_failures, endpoint.last_success_at) == (2, NOW)

    def test_the_last_failure_ends_it_once(self, acme):
        publish(acme)
        WebhookDelivery.objects.update(failures=10)

        record_twice(claim(), BROKEN)

        delivery = WebhookDelivery.objects.get()
        assert (delivery.status, delivery.failures) == (DeliveryStatus.FAILED, 11)

    def test_what_was_asked_for_is_recorded_once(self, acme):
        publish(acme)
        WebhookDelivery.objects.update(is_manual=True)

        record_twice(claim(), GONE)

        assert WebhookEndpoint.objects.get().status == EndpointStatus.ENABLED

    def test_what_waited_its_turn_is_let_go_once(self, acme):
        payment = ids.new("ftx")
        publish(acme, payment_id=payment, sequence=1)
        record(claim(), BROKEN)
        second = publish(acme, payment_id=payment, sequence=2)
        retry_at = NOW + timedelta(seconds=5)
        assert claim() == []
        parked = WebhookDelivery.objects.get(event_id=second)
        assert (parked.is_parked, parked.next_attempt_at) == (True, NOW + ORDER_WAIT)

        jobs = claim(now=retry_at)
        record(jobs, OK, now=retry_at)
        parked.refresh_from_db()
        assert (parked.is_parked, parked.next_attempt_at) == (False, retry_at)
        # Parked again behind one that was asked for again, it is not let go by the old result.
        WebhookDelivery.objects.filter(pk=parked.pk).update(
            is_parked=True, next_attempt_at=NOW + ORDER_WAIT
        )
        before = everything()

        assert record(jobs, OK, now=retry_at) == set()

        assert everything() == before


class TestMeanwhile:
    """Between the two recordings somebody else went on."""

    @pytest.fixture
    def endpoint(self, acme):
        return make_endpoint(acme)

    @pytest.fixture
    def job(self, acme, endpoint):
        publish(acme)
        (job,) = claim()
        return job

    def assert_changes_nothing(self, job, answer):
        before = everything()
        assert record([job], answer, now=SOON) == set()
        assert everything() == before

    def test_an_endpoint_that_is_on_again_stays_on(self, acme, endpoint, job):
        record([job], GONE)
        endpoints.enable(tenant_id=acme.pk, endpoint_id=endpoint.pk, actor=SYSTEM, now=NOW)

        self.assert_changes_nothing(job, GONE)

    def test_a_resend_keeps_its_time_and_its_tries(self, acme, job):
        record([job], BROKEN)
        deliveries.resend(tenant_id=acme.pk, delivery_id=job.delivery_id, actor=SYSTEM, now=NOW)

        self.assert_changes_nothing(job, BROKEN)

    def test_a_replay_is_sent(self, acme, endpoint, job):
        record([job], OK)
        replays.replay(
            tenant_id=acme.pk,
            endpoint_id=endpoint.pk,
            start=NOW - timedelta(hours=1),
            end=NOW + timedelta(hours=1),
            only_failed=False,
            actor=SYSTEM,
            now=NOW,
        )

        self.assert_changes_nothing(job, OK)
        assert [again.attempt for again in claim()] == [2]

    def test_the_next_try_is_left_to_whom_it_belongs(self, job):
        record([job], BROKEN)
        (retry,) = claim(now=NOW + timedelta(seconds=5))

        self.assert_changes_nothing(job, BROKEN)
        assert record([retry], OK, now=NOW + timedelta(seconds=6)) == {job.delivery_id}

    def test_a_late_failure_counts_neither_for_the_delivery_nor_for_the_endpoint(
        self, endpoint, job
    ):
        (current,) = claim(now=NOW + LEASE)

        assert record([job], GONE, now=NOW + LEASE) == set()

        endpoint.refresh_from_db()
        assert (endpoint.status, endpoint.consecutive_failures) == (EndpointStatus.ENABLED, 0)
        assert record([current], OK, now=NOW + LEASE) == {job.delivery_id}
