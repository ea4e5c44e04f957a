"""`POST /webhooks/{id}/test`: a call right now, with the receiver's answer."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from standardwebhooks.webhooks import Webhook

from common.clock import utc_now
from tenants.actors import SYSTEM
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import make_endpoint
from tests.receivers import ALLOWED, Receiver, answer
from webhooks.models import DisabledReason, WebhookEndpoint, WebhookEvent
from webhooks.states import EndpointStatus

SECRET = "whsec_" + "Yg" * 21 + "Y="


@pytest.fixture(autouse=True)
def development(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True


@pytest.fixture
def receiver():
    with Receiver() as running:
        yield running


def call(api, endpoint, **headers):
    return api.post_json(f"/api/v1/webhooks/{endpoint.pk}/test", **headers)


class TestCall:
    def test_sends_a_signed_event_and_tells_the_answer(self, acme, acme_api, receiver):
        receiver.answers["/in"] = [answer(201, body=b"thanks")]
        endpoint = make_endpoint(acme, url=receiver.url("/in"), secret=SECRET)

        response = call(acme_api, endpoint)

        assert response.status_code == 200
        data = response.json()["data"]
        (request,) = receiver.requests
        assert Webhook(SECRET).verify(request.body, request.headers)["type"] == "webhook.test"
        assert json.loads(request.body)["data"] == {"webhookId": endpoint.pk}
        assert data == {
            "eventId": request.headers["webhook-id"],
            "success": True,
            "statusCode": 201,
            "error": None,
            "durationMs": data["durationMs"],
            "response": "thanks",
        }

    @pytest.mark.parametrize(
        ("path", "status", "error"),
        [("/500", 500, None), ("/410", 410, None), ("/reset", None, "disconnected")],
    )
    def test_tells_failures_and_counts_none(self, acme, acme_api, receiver, path, status, error):
        endpoint = make_endpoint(acme, url=receiver.url(path))

        data = call(acme_api, endpoint).json()["data"]

        assert (data["success"], data["statusCode"], data["error"]) == (False, status, error)
        endpoint.refresh_from_db()
        assert (endpoint.status, endpoint.consecutive_failures) == (EndpointStatus.ENABLED, 0)
        assert endpoint.testing_until is None
        assert not WebhookEvent.objects.exists()

    def test_says_nothing_about_our_network(self, acme, acme_api, receiver, settings):
        endpoint = make_endpoint(acme, url=f"https://127.0.0.1:{receiver.port}/")
        settings.WEBHOOK_ALLOWED_NETWORKS = []

        data = call(acme_api, endpoint).json()["data"]

        assert (data["error"], data["response"]) == ("url_not_allowed", "")
        assert receiver.connections == 0

    def test_works_while_the_endpoint_is_off(self, acme, acme_api, receiver):
        endpoint = make_endpoint(
            acme,
            url=receiver.url(),
            status=EndpointStatus.DISABLED,
            disabled_reason=DisabledReason.TENANT,
        )

        assert call(acme_api, endpoint).json()["data"]["success"] is True

    def test_shows_one_kibibyte_of_the_answer(self, acme, acme_api, receiver):
        endpoint = make_endpoint(acme, url=receiver.url("/endless-body"))

        assert call(acme_api, endpoint).json()["data"]["response"] == "a" * 1024

    def test_a_repeat_with_its_key_sends_nothing(self, acme, acme_api, receiver):
        endpoint = make_endpoint(acme, url=receiver.url())

        first = call(acme_api, endpoint, **{"Idempotency-Key": "t"})
        again = call(acme_api, endpoint, **{"Idempotency-Key": "t"})

        assert again.content == first.content
        assert len(receiver.requests) == 1


class TestOneAtATime:
    def test_a_second_of_the_tenant_is_refused(self, acme, acme_api, receiver):
        other = make_endpoint(acme, url=receiver.url())
        endpoint = make_endpoint(acme, url=receiver.url())
        WebhookEndpoint.objects.filter(pk=other.pk).update(
            testing_until=utc_now() + timedelta(seconds=9)
        )

        response = call(acme_api, endpoint)

        assert (response.status_code, response.json()["code"]) == (409, "webhook_test_running")
        assert receiver.requests == []

    def test_one_that_never_ended_is_forgotten(self, acme, acme_api, receiver):
        endpoint = make_endpoint(acme, url=receiver.url(), testing_until=utc_now())

        assert call(acme_api, endpoint).status_code == 200

    def test_one_that_died_with_its_key_is_not_the_answer_to_its_repeats(
        self, acme, acme_api, receiver
    ):
        endpoint = make_endpoint(
            acme, url=receiver.url(), testing_until=utc_now() + timedelta(seconds=9)
        )
        key = {"Idempotency-Key": "t"}
        assert call(acme_api, endpoint, **key).json()["code"] == "webhook_test_running"
        WebhookEndpoint.objects.update(testing_until=utc_now())

        again = call(acme_api, endpoint, **key)

        assert (again.status_code, len(receiver.requests)) == (200, 1)
        assert call(acme_api, endpoint, **key).content == again.content

    def test_is_refused_while_operators_stopped_webhooks(self, acme, acme_api, receiver):
        endpoint = make_endpoint(acme, url=receiver.url())
        switches.engage(kind=SwitchKind.WEBHOOKS, reason="Look first", actor=SYSTEM, now=utc_now())

        response = call(acme_api, endpoint)

        assert (response.status_code, response.json()["code"]) == (503, "webhooks_stopped")
        assert receiver.requests == []

    def test_takes_no_fields(self, acme, acme_api, receiver):
        endpoint = make_endpoint(acme, url=receiver.url())

        response = acme_api.post_json(f"/api/v1/webhooks/{endpoint.pk}/test", {"url": "x"})

        assert (response.status_code, response.json()["code"]) == (400, "unknown_field")
        assert receiver.requests == []
