"""`POST /webhooks/{id}/rotate-secret`."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import crypto
from common.clock import parse, utc_now
from tenants.models import AuditEvent
from tests.builders import make_endpoint
from webhooks.models import WebhookEndpoint
from webhooks.services import secrets


@pytest.fixture
def endpoint(acme):
    return make_endpoint(acme)


def path(endpoint):
    return f"/api/v1/webhooks/{endpoint.pk}/rotate-secret"


def signing_secrets(endpoint, *, now):
    endpoint.refresh_from_db()
    return secrets.decrypt_secrets(
        endpoint_id=endpoint.pk,
        token=endpoint.secret_token,
        previous_token=endpoint.previous_secret_token,
        previous_expires_at=endpoint.previous_secret_expires_at,
        now=now,
    )


def endpoint_again(endpoint):
    endpoint.refresh_from_db()
    return endpoint


def secret_of(endpoint):
    return crypto.decrypt(endpoint.secret_token, context=endpoint.encryption_context)


class TestRotation:
    def test_gives_a_new_secret_and_keeps_the_old_for_a_day(self, acme_api, endpoint):
        old = secret_of(endpoint)

        response = acme_api.post_json(path(endpoint))

        assert response.status_code == 200
        data = response.json()["data"]
        ends = parse(data["previousSecretExpiresAt"])
        assert timedelta(hours=23) < ends - utc_now() <= timedelta(hours=24)
        both = signing_secrets(endpoint, now=ends - timedelta(seconds=1))
        assert (both.current, both.previous) == (data["secret"], old)
        assert signing_secrets(endpoint, now=ends).previous is None

    def test_may_end_the_old_one_at_once(self, acme_api, endpoint):
        response = acme_api.post_json(path(endpoint), {"overlapSeconds": 0})

        assert response.json()["data"]["previousSecretExpiresAt"] is None
        endpoint.refresh_from_db()
        assert endpoint.previous_secret_token == ""

    def test_takes_up_to_seven_days(self, acme_api, endpoint):
        response = acme_api.post_json(path(endpoint), {"overlapSeconds": 604_800})

        assert response.status_code == 200

    @pytest.mark.parametrize("overlap", [-1, 604_801, "60", 1.5, True, None])
    def test_refuses_other_overlaps(self, acme_api, endpoint, overlap):
        before = endpoint.secret_token

        response = acme_api.post_json(path(endpoint), {"overlapSeconds": overlap})

        assert response.status_code == 400
        assert response.json()["errors"][0]["field"] == "overlapSeconds"
        endpoint.refresh_from_db()
        assert endpoint.secret_token == before

    def test_a_second_one_does_not_drop_the_oldest_before_its_time(self, acme_api, endpoint):
        old = secret_of(endpoint)
        data = acme_api.post_json(path(endpoint)).json()["data"]

        response = acme_api.post_json(path(endpoint))

        assert (response.status_code, response.json()["code"]) == (409, "webhook_secrets_overlap")
        assert response.json()["previousSecretExpiresAt"] == data["previousSecretExpiresAt"]
        both = signing_secrets(endpoint, now=utc_now())
        assert (both.current, both.previous) == (data["secret"], old)
        assert AuditEvent.objects.filter(action="webhook.secret_rotated").count() == 1

    def test_a_second_one_may_end_both_at_once(self, acme_api, endpoint):
        acme_api.post_json(path(endpoint))

        data = acme_api.post_json(path(endpoint), {"overlapSeconds": 0}).json()["data"]

        both = signing_secrets(endpoint, now=utc_now())
        assert (both.current, both.previous) == (data["secret"], None)

    def test_a_second_one_after_the_overlap_keeps_the_first(self, acme_api, endpoint):
        first = acme_api.post_json(path(endpoint)).json()["data"]["secret"]
        WebhookEndpoint.objects.update(previous_secret_expires_at=utc_now())

        second = acme_api.post_json(path(endpoint)).json()["data"]["secret"]

        both = signing_secrets(endpoint, now=utc_now())
        assert (both.current, both.previous) == (second, first)

    def test_is_audited_without_the_secret(self, acme_api, endpoint):
        acme_api.post_json(path(endpoint))

        event = AuditEvent.objects.get(action="webhook.secret_rotated")
        assert event.details == {"url": "https://hooks.example.com/in", "overlapSeconds": 86_400}

    def test_a_repeat_with_its_key_rotates_once_and_shows_no_secret(self, acme_api, endpoint):
        first = acme_api.post_json(path(endpoint), **{"Idempotency-Key": "r"})
        again = acme_api.post_json(path(endpoint), **{"Idempotency-Key": "r"})

        assert again.json()["data"] == {**first.json()["data"], "secret": None}
        assert again["Idempotent-Withheld"] == "secret"
        assert secret_of(endpoint_again(endpoint)) == first.json()["data"]["secret"]
        assert AuditEvent.objects.filter(action="webhook.secret_rotated").count() == 1

    def test_of_another_tenants_endpoint_is_not_found(self, rival_api, endpoint):
        assert rival_api.post_json(path(endpoint)).status_code == 404
