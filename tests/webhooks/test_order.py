"""Events of one payment go out one after the other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import ids
from common.audits import Scope
from tenants.actors import SYSTEM
from tests.builders import NOW, make_endpoint, publish, publish_notice
from tests.webhooks.claiming import BROKEN, OK, claim, record
from webhooks import invariants
from webhooks.dispatcher.claims import IN_FLIGHT_PER_ENDPOINT, LEASE, ORDER_WAIT
from webhooks.models import DisabledReason, WebhookDelivery, WebhookEndpoint
from webhooks.services import deliveries, endpoints
from webhooks.states import DeliveryStatus

pytestmark = pytest.mark.django_db


def due_at(event_id):
    return WebhookDelivery.objects.get(event_id=event_id).next_attempt_at


def parked():
    """The events whose delivery waits for an earlier one."""
    return set(WebhookDelivery.objects.filter(is_parked=True).values_list("event_id", flat=True))


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
        assert parked() == {second, third}

        soon = NOW + timedelta(seconds=5)
        record(claim(now=soon), OK, now=soon)
        assert due_at(second) == due_at(third) == soon
        assert parked() == set()
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
        retry_at = NOW + ORDER_WAIT  # as if it were parked
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
        assert parked() == {second}
        assert [job.event_id for job in claim(now=NOW + ORDER_WAIT)] == [second]
        assert parked() == set()

    @pytest.mark.parametrize("act", ["resend", "switch_off"])
    def test_what_is_sent_now_or_put_aside_is_parked_no_more(self, acme, payment, act):
        publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        record(claim(), BROKEN)
        assert (claim(), parked()) == ([], {second})
        row = WebhookDelivery.objects.get(event_id=second)

        if act == "resend":
            deliveries.resend(tenant_id=acme.pk, delivery_id=row.pk, actor=SYSTEM, now=NOW)
        else:
            endpoints.disable(
                tenant_id=acme.pk,
                endpoint_id=row.endpoint_id,
                reason=DisabledReason.TENANT,
                actor=SYSTEM,
                now=NOW,
            )

        assert parked() == set()

    def test_goes_on_when_the_earlier_is_put_aside(self, acme, payment):
        """The endpoint is off: a try that was under way failed, and somebody asked for the next
        event, which a claim parks behind that one until a sweep takes it out of the queue."""
        first = publish(acme, payment_id=payment, sequence=1)
        second = publish(acme, payment_id=payment, sequence=2)
        other = publish(acme)
        jobs = claim()
        endpoint_id = jobs[0].endpoint_id
        values = {"tenant_id": acme.pk, "endpoint_id": endpoint_id, "actor": SYSTEM, "now": NOW}
        endpoints.disable(**values, reason=DisabledReason.TENANT)
        record(jobs, BROKEN)
        for event_id in (second, other):
            asked_for = WebhookDelivery.objects.get(event_id=event_id)
            deliveries.resend(tenant_id=acme.pk, delivery_id=asked_for.pk, actor=SYSTEM, now=NOW)
        assert [job.event_id for job in claim()] == [other]
        assert parked() == {second}

        soon = NOW + timedelta(seconds=1)
        assert deliveries.put_aside(now=soon) == 1

        assert WebhookDelivery.objects.get(event_id=first).status == DeliveryStatus.SKIPPED
        endpoints.enable(**values)
        assert (parked(), due_at(second)) == (set(), soon)
        assert list(invariants.check(Scope(tenant_ids=(acme.pk,)))) == []
        assert [job.event_id for job in claim(now=soon)] == [second]

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
            publish_notice(acme)

        assert len(claim()) == 2
