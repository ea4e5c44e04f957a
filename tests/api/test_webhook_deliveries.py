"""The deliveries of an endpoint: list, detail, resend."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import ids
from common.clock import utc_now
from tenants.models import AuditEvent
from tests.builders import NOW, make_endpoint, publish, publish_notice
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus

PATH = "/api/v1/webhooks"
UNKNOWN = "dlv_01kaj9s3h5x2q4z6w8y0v2t4r6"


@pytest.fixture
def endpoint(acme):
    return make_endpoint(acme, events=["payment.completed", "balance.low"])


@pytest.fixture
def delivery(acme, endpoint):
    publish(acme)
    return WebhookDelivery.objects.get()


def finish(delivery, status=DeliveryStatus.DELIVERED, **fields):
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        status=status, next_attempt_at=None, leased_until=None, **fields
    )


def listed(api, endpoint, query=""):
    response = api.get(f"{PATH}/{endpoint.pk}/deliveries{query}")
    assert response.status_code == 200, response.json()
    return response.json()["data"]


class TestList:
    def test_shows_what_was_to_be_sent(self, acme, acme_api, endpoint):
        payment_id = ids.new("ftx")
        event_id = publish(acme, payment_id=payment_id)

        (row,) = listed(acme_api, endpoint)

        assert row == {
            "id": WebhookDelivery.objects.get().pk,
            "webhookId": endpoint.pk,
            "eventId": event_id,
            "type": "payment.completed",
            "paymentId": payment_id,
            "status": "pending",
            "attempts": 0,
            "lastStatusCode": None,
            "lastError": None,
            "nextAttemptAt": "2026-11-20T15:00:00.000000Z",
            "deliveredAt": None,
            "createdAt": "2026-11-20T15:00:00.000000Z",
        }

    def test_narrows_by_status_type_and_time(self, acme, acme_api, endpoint):
        first = publish(acme)
        finish(WebhookDelivery.objects.get())
        notice = publish_notice(acme, now=NOW + timedelta(hours=1))

        def found(query):
            return [row["eventId"] for row in listed(acme_api, endpoint, query)]

        assert found("") == [notice, first]
        assert found("?status=delivered") == [first]
        assert found("?status=delivered&status=pending") == [notice, first]
        assert found("?type=balance.low") == [notice]
        assert found("?createdAfter=2026-11-20T15:00:00Z") == [notice]
        assert found("?createdBefore=2026-11-20T15:30:00Z") == [first]

    @pytest.mark.parametrize(
        "query", ["status=done", "type=x", "createdAfter=now", "foo=1", "limit=101", "cursor=x"]
    )
    def test_refuses_odd_parameters(self, acme_api, endpoint, query):
        response = acme_api.get(f"{PATH}/{endpoint.pk}/deliveries?{query}")

        assert response.status_code == 400


class TestRetrieve:
    def test_shows_every_try(self, acme_api, delivery):
        for number, code in ((1, 500), (2, 200)):
            WebhookAttempt.objects.create(
                delivery=delivery,
                number=number,
                status_code=code,
                response=f"answer {number}",
                duration_ms=7,
                started_at=NOW,
            )

        data = acme_api.get(f"{PATH}/deliveries/{delivery.pk}").json()["data"]

        assert data["id"] == delivery.pk
        assert data["attemptLog"][1] == {
            "number": 1,
            "statusCode": 500,
            "error": None,
            "durationMs": 7,
            "response": "answer 1",
            "startedAt": "2026-11-20T15:00:00.000000Z",
        }
        assert [item["statusCode"] for item in data["attemptLog"]] == [200, 500]

    @pytest.mark.parametrize("junk", ["x", "a%00b", UNKNOWN, "wh_01kaj9s3h5x2q4z6w8y0v2t4r6"])
    def test_knows_no_other_ids(self, acme_api, junk):
        assert acme_api.get(f"{PATH}/deliveries/{junk}").status_code == 404
        assert acme_api.post_json(f"{PATH}/deliveries/{junk}/resend").status_code == 404

    def test_hides_other_tenants_deliveries(self, rival_api, delivery):
        assert rival_api.get(f"{PATH}/deliveries/{delivery.pk}").status_code == 404
        assert rival_api.post_json(f"{PATH}/deliveries/{delivery.pk}/resend").status_code == 404

    def test_hides_those_of_removed_endpoints(self, acme_api, endpoint, delivery):
        acme_api.delete(f"{PATH}/{endpoint.pk}")

        assert acme_api.get(f"{PATH}/deliveries/{delivery.pk}").status_code == 404


class TestResend:
    @pytest.mark.parametrize(
        "status", [DeliveryStatus.DELIVERED, DeliveryStatus.FAILED, DeliveryStatus.SKIPPED]
    )
    def test_starts_a_new_round(self, acme_api, delivery, status):
        if status == DeliveryStatus.SKIPPED:
            WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")
        finish(delivery, status, failures=11, attempts=11)
        before = utc_now()

        response = acme_api.post_json(f"{PATH}/deliveries/{delivery.pk}/resend")

        assert response.status_code == 200
        assert response.json()["data"]["status"] == "pending"
        delivery.refresh_from_db()
        assert (delivery.is_manual, delivery.failures, delivery.attempts) == (True, 0, 11)
        assert delivery.next_attempt_at >= before
        line = AuditEvent.objects.get(action="webhook.resent")
        assert (line.actor_type, line.subject_id) == ("api_key", delivery.pk)

    def test_brings_a_waiting_retry_forward(self, acme_api, delivery):
        WebhookDelivery.objects.update(next_attempt_at=utc_now() + timedelta(hours=9), failures=6)

        acme_api.post_json(f"{PATH}/deliveries/{delivery.pk}/resend")

        delivery.refresh_from_db()
        assert (delivery.failures, delivery.is_manual) == (0, True)
        assert delivery.next_attempt_at <= utc_now()

    def test_leaves_one_that_is_being_sent(self, acme_api, delivery):
        until = utc_now() + timedelta(seconds=50)
        WebhookDelivery.objects.update(leased_until=until)

        data = acme_api.post_json(f"{PATH}/deliveries/{delivery.pk}/resend").json()["data"]

        assert (data["status"], data["nextAttemptAt"]) == ("pending", None)
        delivery.refresh_from_db()
        assert (delivery.leased_until, delivery.is_manual) == (until, False)

    def test_takes_over_from_a_dispatcher_that_died(self, acme_api, delivery):
        WebhookDelivery.objects.update(leased_until=utc_now(), failures=2)

        acme_api.post_json(f"{PATH}/deliveries/{delivery.pk}/resend")

        delivery.refresh_from_db()
        assert (delivery.leased_until, delivery.is_manual, delivery.failures) == (None, True, 0)
