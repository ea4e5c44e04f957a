"""Registration, list, detail, change and removal of webhook endpoints."""

from __future__ import annotations

import base64
import json
from datetime import timedelta

import pytest

from api.models import IdempotencyRecord
from common import crypto
from common.clock import utc_now
from tenants.models import AuditEvent, Mode
from tests.builders import ApiClient, make_endpoint, make_key, make_tenant, publish
from tests.database import owner
from tests.receivers import ALLOWED
from webhooks.models import ENDPOINTS_PER_TENANT_MAX, WebhookEndpoint
from webhooks.states import EndpointStatus

PATH = "/api/v1/webhooks"
URL = "https://hooks.example.com/ballast"
UNKNOWN = "wh_01kaj9s3h5x2q4z6w8y0v2t4r6"
JUNK_IDS = ["abc", "a%00b", "9" * 40, "%2a", "wh_", "wh_%ff", "'; drop table", UNKNOWN]


def register(api, url=URL, events=("payment.completed",), **fields):
    return api.post_json(PATH, {"url": url, "events": list(events), **fields})


def code_of(response):
    assert response["Content-Type"] == "application/problem+json"
    return response.json()["code"]


class TestCreate:
    def test_answers_with_the_endpoint_and_its_secret(self, acme, acme_api):
        response = register(acme_api, description="our shop")

        assert response.status_code == 201
        data = response.json()["data"]
        endpoint = WebhookEndpoint.objects.get()
        assert response["Location"] == f"{PATH}/{endpoint.pk}"
        assert data == {
            "id": endpoint.pk,
            "url": URL,
            "events": ["payment.completed"],
            "status": "enabled",
            "disabledReason": None,
            "description": "our shop",
            "consecutiveFailures": 0,
            "failingSince": None,
            "lastSuccessAt": None,
            "previousSecretExpiresAt": None,
            "createdAt": data["createdAt"],
            "updatedAt": data["createdAt"],
            "secret": data["secret"],
        }
        assert len(base64.b64decode(data["secret"].removeprefix("whsec_"))) == 32
        assert endpoint.tenant == acme

    def test_keeps_the_secret_encrypted(self, acme_api):
        secret = register(acme_api).json()["data"]["secret"]

        endpoint = WebhookEndpoint.objects.get()
        assert secret not in endpoint.secret_token
        assert crypto.decrypt(endpoint.secret_token, context=endpoint.encryption_context) == secret

    def test_is_audited_without_the_secret(self, acme_api):
        secret = register(acme_api).json()["data"]["secret"]

        event = AuditEvent.objects.get(action="webhook.registered")
        assert event.details == {"url": URL, "events": ["payment.completed"]}
        assert secret not in json.dumps(event.details)

    @pytest.mark.parametrize(
        "events",
        [["*"], ["payment.created", "payment.returned"], ["balance.low", "payment.failed"]],
    )
    def test_takes_known_events(self, acme_api, events):
        assert register(acme_api, events=events).json()["data"]["events"] == events

    @pytest.mark.parametrize(
        "events",
        [
            [], ["payment.paid"], ["Payment.Completed"], ["payment.completed "], [["*"]], [1],
            [None], ["payment.completed"] * 2, ["*", "payment.completed"], ["*", "*"], "*", None,
            {"a": 1}, ["webhook.test"],
        ],
    )  # fmt: skip
    def test_refuses_other_lists(self, acme_api, events):
        response = acme_api.post_json(PATH, {"url": URL, "events": events})

        assert response.status_code == 400
        assert code_of(response) in {"invalid_request", "invalid_webhook_events"}
        assert response.json()["errors"][0]["field"].startswith("events")
        assert not WebhookEndpoint.objects.exists()

    @pytest.mark.parametrize(
        "url",
        [
            "http://hooks.example.com/x", "https://127.0.0.1/", "https://localhost/",
            "https://2130706433/", "https://[::ffff:127.0.0.1]/", "https://redis.internal/",
            "https://hooks.example.com:22/", "https://user@hooks.example.com/", "/hook",
            "https://hooks.example.com/#f",
        ],
    )  # fmt: skip
    def test_refuses_urls_that_break_the_rule(self, acme_api, url):
        response = register(acme_api, url=url)

        assert response.status_code == 400
        assert code_of(response) == "invalid_webhook_url"
        assert response.json()["errors"][0]["field"] == "url"
        assert not WebhookEndpoint.objects.exists()

    @pytest.mark.parametrize("url", ["", None, 1, True, [URL], {"url": URL}, "https://a\tb.com/"])
    def test_refuses_what_is_no_url_at_all(self, acme_api, url):
        response = register(acme_api, url=url)

        assert response.status_code == 400
        assert code_of(response) == "invalid_request"

    def test_needs_both_fields_and_takes_no_others(self, acme_api):
        assert code_of(acme_api.post_json(PATH, {"url": URL})) == "invalid_request"
        assert code_of(acme_api.post_json(PATH, {"events": ["*"]})) == "invalid_request"
        assert code_of(register(acme_api, secret="whsec_mine")) == "unknown_field"
        assert code_of(register(acme_api, status="disabled")) == "unknown_field"

    def test_refuses_more_than_twenty(self, acme, acme_api, rival_api):
        for _ in range(ENDPOINTS_PER_TENANT_MAX):
            make_endpoint(acme)

        response = register(acme_api)

        assert (response.status_code, code_of(response)) == (422, "too_many_webhooks")
        assert register(rival_api).status_code == 201
        with owner.as_owner():
            WebhookEndpoint.objects.filter(tenant=acme).earliest("pk").delete()
        assert register(acme_api).status_code == 201

    def test_needs_the_scope(self, acme):
        reader = ApiClient(make_key(acme, scopes=["webhooks:read"]))

        response = register(reader)

        assert (response.status_code, code_of(response)) == (403, "insufficient_scope")

    def test_a_repeat_with_its_key_does_not_show_the_secret_again(self, acme_api):
        body = {"url": URL, "events": ["*"]}

        first = acme_api.post_json(PATH, body, **{"Idempotency-Key": "k1"})
        again = acme_api.post_json(PATH, body, **{"Idempotency-Key": "k1"})

        secret = first.json()["data"]["secret"]
        assert (again.status_code, again["Location"]) == (201, first["Location"])
        assert again.content == first.content.replace(f'"{secret}"'.encode(), b"null")
        assert again["Idempotent-Replayed"] == "true"
        assert again["Idempotent-Withheld"] == "secret"
        assert "Idempotent-Withheld" not in first
        assert WebhookEndpoint.objects.count() == 1
        assert secret not in kept_body()

    def test_a_repeat_of_what_the_last_release_stored_does_not_either(self, acme_api):
        body = {"url": URL, "events": ["*"]}
        first = acme_api.post_json(PATH, body, **{"Idempotency-Key": "k1"})
        record = IdempotencyRecord.objects.get()
        text = first.content.decode()
        record.body_token = crypto.encrypt(text, context=record.encryption_context)
        record.save()

        again = acme_api.post_json(PATH, body, **{"Idempotency-Key": "k1"})

        assert again.json()["data"] == {**first.json()["data"], "secret": None}
        assert again["Idempotent-Withheld"] == "secret"


def kept_body() -> str:
    record = IdempotencyRecord.objects.get()
    return crypto.decrypt(record.body_token, context=record.encryption_context)


class TestPlainHttp:
    @pytest.fixture(autouse=True)
    def development(self, settings):
        settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
        settings.WEBHOOK_ALLOW_HTTP = True

    def test_is_for_sandbox_tenants(self, acme_api):
        assert register(acme_api, url="http://127.0.0.1:9000/in").status_code == 201
        assert register(acme_api, url="http://localhost:9000/in").status_code == 201

    def test_is_refused_for_live_tenants(self, db):
        live = ApiClient(make_key(make_tenant(mode=Mode.LIVE)))

        assert code_of(register(live, url="http://127.0.0.1:9000/in")) == "invalid_webhook_url"
        assert register(live, url="https://127.0.0.1:9000/in").status_code == 201

    def test_never_reaches_the_internet_or_ourselves(self, acme_api):
        for url in (
            "http://hooks.example.com/x",
            "http://8.8.8.8/",
            "http://localhost:8000/admin/",
        ):
            assert code_of(register(acme_api, url=url)) == "invalid_webhook_url"


class TestList:
    def test_shows_the_newest_first_without_secrets(self, acme, acme_api):
        first = make_endpoint(acme)
        second = make_endpoint(acme)
        WebhookEndpoint.objects.filter(pk=second.pk).update(
            created_at=first.created_at + timedelta(seconds=1)
        )

        response = acme_api.get(PATH)

        rows = response.json()["data"]
        assert [row["id"] for row in rows] == [second.pk, first.pk]
        assert all("secret" not in row for row in rows)
        assert response.json()["hasMore"] is False

    def test_hides_other_tenants_endpoints(self, rival, acme_api):
        make_endpoint(rival)

        assert acme_api.get(PATH).json()["data"] == []


class TestRetrieve:
    def test_shows_the_health(self, acme, acme_api):
        endpoint = make_endpoint(acme, consecutive_failures=3, first_failure_at=utc_now())

        data = acme_api.get(f"{PATH}/{endpoint.pk}").json()["data"]

        assert (data["id"], data["consecutiveFailures"]) == (endpoint.pk, 3)
        assert data["failingSince"].endswith("Z")
        assert "secret" not in data

    @pytest.mark.parametrize("junk", JUNK_IDS)
    def test_knows_no_other_ids(self, acme_api, junk):
        for method in (acme_api.get, acme_api.delete):
            assert method(f"{PATH}/{junk}").status_code == 404
        assert acme_api.patch_json(f"{PATH}/{junk}", {"status": "enabled"}).status_code == 404
        for action in ("rotate-secret", "test"):
            assert acme_api.post_json(f"{PATH}/{junk}/{action}").status_code == 404
        assert acme_api.get(f"{PATH}/{junk}/deliveries").status_code == 404

    def test_hides_other_tenants_endpoints(self, rival, acme_api):
        theirs = make_endpoint(rival)
        path = f"{PATH}/{theirs.pk}"

        assert acme_api.get(path).status_code == 404
        assert acme_api.patch_json(path, {"description": "mine"}).status_code == 404
        assert acme_api.delete(path).status_code == 404
        assert acme_api.post_json(f"{path}/rotate-secret").status_code == 404
        assert acme_api.post_json(f"{path}/test").status_code == 404
        assert acme_api.get(f"{path}/deliveries").status_code == 404
        theirs.refresh_from_db()
        assert (theirs.description, theirs.status) == ("", EndpointStatus.ENABLED)


class TestChange:
    @pytest.fixture
    def endpoint(self, acme):
        return make_endpoint(acme, description="old", consecutive_failures=2)

    def test_changes_only_what_is_sent(self, acme_api, endpoint):
        response = acme_api.patch_json(f"{PATH}/{endpoint.pk}", {"events": ["payment.failed"]})

        assert response.status_code == 200
        data = response.json()["data"]
        assert data["events"] == ["payment.failed"]
        assert (data["url"], data["description"]) == (endpoint.url, "old")
        assert data["consecutiveFailures"] == 2

    def test_a_new_url_starts_with_a_clean_record(self, acme_api, endpoint):
        url = "https://hooks.example.com/new"

        data = acme_api.patch_json(f"{PATH}/{endpoint.pk}", {"url": url}).json()["data"]

        assert (data["url"], data["consecutiveFailures"]) == (url, 0)
        assert AuditEvent.objects.get(action="webhook.updated").details == {"url": url}

    def test_nothing_sent_changes_nothing(self, acme_api, endpoint):
        assert acme_api.patch_json(f"{PATH}/{endpoint.pk}", {}).status_code == 200

        assert not AuditEvent.objects.filter(action__startswith="webhook.").exists()

    @pytest.mark.parametrize(
        "body",
        [
            {"url": "https://127.0.0.1/"}, {"url": None}, {"events": []}, {"events": ["x"]},
            {"status": "removed"}, {"status": None}, {"secret": "x"}, {"id": "wh_x"},
            {"description": "a" * 141}, {"description": None}, {"tenant": "ten_x"},
        ],
    )  # fmt: skip
    def test_refuses_what_registration_refuses(self, acme_api, endpoint, body):
        response = acme_api.patch_json(f"{PATH}/{endpoint.pk}", body)

        assert response.status_code == 400
        endpoint.refresh_from_db()
        assert (endpoint.url, endpoint.status) == (
            "https://hooks.example.com/in",
            EndpointStatus.ENABLED,
        )

    def test_switches_off_and_on(self, acme, acme_api, endpoint):
        path = f"{PATH}/{endpoint.pk}"
        publish(acme)

        off = acme_api.patch_json(path, {"status": "disabled"}).json()["data"]
        assert (off["status"], off["disabledReason"]) == ("disabled", "tenant")
        assert endpoint.deliveries.get().status == "skipped"

        on = acme_api.patch_json(path, {"status": "enabled"}).json()["data"]
        assert (on["status"], on["disabledReason"], on["consecutiveFailures"]) == (
            "enabled", None, 0,
        )  # fmt: skip
        actions = AuditEvent.objects.filter(subject_id=endpoint.pk).order_by("created_at")
        assert [event.action for event in actions] == ["webhook.disabled", "webhook.enabled"]

    def test_switching_on_what_is_on_is_no_news(self, acme_api, endpoint):
        acme_api.patch_json(f"{PATH}/{endpoint.pk}", {"status": "enabled"})

        endpoint.refresh_from_db()
        assert endpoint.consecutive_failures == 2
        assert not AuditEvent.objects.filter(subject_id=endpoint.pk).exists()


class TestRemove:
    def test_forgets_the_secret_and_cancels_what_is_due(self, acme, acme_api):
        endpoint = make_endpoint(acme)
        publish(acme)
        path = f"{PATH}/{endpoint.pk}"

        response = acme_api.delete(path)

        assert response.status_code == 200
        data = response.json()["data"]
        assert (data["id"], data["status"]) == (endpoint.pk, "removed")
        endpoint.refresh_from_db()
        assert (endpoint.secret_token, endpoint.removed_at is not None) == ("", True)
        assert endpoint.deliveries.get().status == "canceled"
        assert acme_api.get(path).status_code == 404
        assert acme_api.get(PATH).json()["data"] == []
        publish(acme)
        assert endpoint.deliveries.count() == 1

    def test_is_repeatable(self, acme, acme_api):
        path = f"{PATH}/{make_endpoint(acme).pk}"

        assert acme_api.delete(path).json() == acme_api.delete(path).json()
        assert AuditEvent.objects.filter(action="webhook.removed").count() == 1


class TestMethods:
    def test_others_are_not_allowed(self, acme, acme_api):
        endpoint = make_endpoint(acme)

        response = acme_api.put(f"{PATH}/{endpoint.pk}", {}, content_type="application/json")

        assert (response.status_code, code_of(response)) == (405, "method_not_allowed")
        assert set(response["Allow"].split(", ")) >= {"GET", "PATCH", "DELETE"}
