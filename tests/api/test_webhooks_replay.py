"""`POST /webhooks/{id}/replay`: a window of events again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import text_of, utc_now
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import make_endpoint, publish, publish_notice
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.services import replays
from webhooks.states import DeliveryStatus

HOUR = timedelta(hours=1)


@pytest.fixture
def now():
    return utc_now()


def replay(api, endpoint, now, *, since=3 * HOUR, until=timedelta(0), **fields):
    body = {"from": text_of(now - since), "to": text_of(now - until), **fields}
    return api.post_json(f"/api/v1/webhooks/{endpoint.pk}/replay", body)


def happened(tenant, now, ago, status=None, **fields):
    """An event some time ago, and what became of its deliveries."""
    event_id = publish(tenant, now=now - ago, **fields)
    if status is not None:
        WebhookDelivery.objects.filter(event_id=event_id).update(
            status=status, next_attempt_at=None, failures=11
        )
    return event_id


def queued(endpoint):
    rows = endpoint.deliveries.filter(status=DeliveryStatus.PENDING).order_by("event__created_at")
    return list(rows.values_list("event_id", flat=True))


class TestOnlyFailed:
    def test_queues_what_never_arrived(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)
        happened(acme, now, 2 * HOUR, DeliveryStatus.DELIVERED)
        failed = happened(acme, now, 2 * HOUR, DeliveryStatus.FAILED)
        skipped = happened(acme, now, HOUR, DeliveryStatus.SKIPPED)

        response = replay(acme_api, endpoint, now, onlyFailed=True)

        assert response.json()["data"] == {"queued": 2, "resumeFrom": None}
        assert queued(endpoint) == [failed, skipped]
        row = endpoint.deliveries.get(event_id=failed)
        assert (row.failures, row.is_manual) == (0, False)
        assert row.next_attempt_at == row.queued_at >= now

    def test_is_what_happens_unless_told_otherwise(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)
        happened(acme, now, HOUR, DeliveryStatus.DELIVERED)

        assert replay(acme_api, endpoint, now).json()["data"]["queued"] == 0

    def test_the_window_is_from_inclusive_to_exclusive(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)
        first = happened(acme, now, 3 * HOUR, DeliveryStatus.FAILED)
        happened(acme, now, HOUR, DeliveryStatus.FAILED)

        replay(acme_api, endpoint, now, until=HOUR)

        assert queued(endpoint) == [first]


class TestEverything:
    def test_includes_what_arrived_and_what_came_before_the_endpoint(self, acme, acme_api, now):
        before = happened(acme, now, 2 * HOUR)
        endpoint = make_endpoint(acme, events=["payment.completed"])
        arrived = happened(acme, now, HOUR, DeliveryStatus.DELIVERED)
        happened(acme, now, HOUR, type="payment.failed", status=DeliveryStatus.DELIVERED)

        response = replay(acme_api, endpoint, now, onlyFailed=False)

        assert response.json()["data"]["queued"] == 2
        assert queued(endpoint) == [before, arrived]

    def test_the_star_means_payments_not_notices(self, acme, acme_api, now):
        publish_notice(acme, now=now - HOUR)
        payment = happened(acme, now, HOUR)
        endpoint = make_endpoint(acme, events=["*"])

        replay(acme_api, endpoint, now, onlyFailed=False)

        assert queued(endpoint) == [payment]

    def test_leaves_what_is_waiting_already(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)
        happened(acme, now, HOUR)
        WebhookDelivery.objects.update(failures=3)

        response = replay(acme_api, endpoint, now, onlyFailed=False)

        assert response.json()["data"]["queued"] == 0
        assert endpoint.deliveries.get().failures == 3

    def test_goes_on_in_a_second_call_when_there_is_much(self, acme, acme_api, now, monkeypatch):
        monkeypatch.setattr(replays, "EVENTS_MAX", 2)
        endpoint = make_endpoint(acme)
        happened(acme, now, 3 * HOUR, DeliveryStatus.FAILED)
        happened(acme, now, 2 * HOUR, DeliveryStatus.FAILED)
        third = happened(acme, now, HOUR, DeliveryStatus.FAILED)

        data = replay(acme_api, endpoint, now, since=4 * HOUR).json()["data"]

        assert data == {"queued": 2, "resumeFrom": text_of(now - HOUR)}
        assert third not in queued(endpoint)

    def test_touches_nobody_elses(self, acme, rival, acme_api, now):
        endpoint, theirs = make_endpoint(acme), make_endpoint(rival)
        happened(rival, now, HOUR, DeliveryStatus.FAILED)

        assert replay(acme_api, endpoint, now, onlyFailed=False).json()["data"]["queued"] == 0
        assert queued(theirs) == []

    def test_is_audited(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)

        replay(acme_api, endpoint, now)

        event = AuditEvent.objects.get(action="webhook.replayed")
        assert (event.subject_id, event.details["queued"]) == (endpoint.pk, 0)


class TestRefusal:
    def test_of_another_tenants_endpoint(self, rival, acme_api, now):
        assert replay(acme_api, make_endpoint(rival), now).status_code == 404

    def test_of_an_endpoint_that_is_off(self, acme, acme_api, now):
        endpoint = make_endpoint(acme)
        happened(acme, now, HOUR, DeliveryStatus.FAILED)
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="failing")

        response = replay(acme_api, endpoint, now)

        assert (response.status_code, response.json()["code"]) == (409, "webhook_disabled")
        assert queued(endpoint) == []

    @pytest.mark.parametrize(
        ("since", "until"),
        [(timedelta(days=31), HOUR), (HOUR, HOUR), (HOUR, 2 * HOUR)],
    )
    def test_of_windows_that_make_no_sense(self, acme, acme_api, now, since, until):
        response = replay(acme_api, make_endpoint(acme), now, since=since, until=until)

        assert (response.status_code, response.json()["code"]) == (400, "invalid_replay_window")

    @pytest.mark.parametrize(
        "fields",
        [
            {"from": None}, {"from": "yesterday"}, {"from": "2026-11-20T15:00:00"}, {"to": 5},
            {"onlyFailed": "true"}, {"onlyFailed": None}, {"status": "failed"},
            {"to": "9999-12-31T23:59:59-14:00"},
        ],
    )  # fmt: skip
    def test_of_fields_of_another_kind(self, acme, acme_api, now, fields):
        response = replay(acme_api, make_endpoint(acme), now, **fields)

        assert response.status_code == 400
        assert response.json()["errors"][0]["field"] == next(iter(fields))


class TestCount:
    @pytest.mark.parametrize(("only_failed", "expected"), [(True, 1), (False, 3)])
    def test_says_what_a_replay_would_queue(self, acme, now, only_failed, expected):
        endpoint = make_endpoint(acme)
        happened(acme, now, 2 * HOUR, DeliveryStatus.DELIVERED)
        happened(acme, now, 2 * HOUR, DeliveryStatus.DELIVERED)
        happened(acme, now, HOUR, DeliveryStatus.FAILED)
        happened(acme, now, 5 * HOUR, DeliveryStatus.FAILED)
        window = {
            "tenant_id": acme.pk,
            "endpoint_id": endpoint.pk,
            "start": now - 3 * HOUR,
            "end": now,
            "only_failed": only_failed,
            "now": now,
        }

        assert replays.count(**window) == expected
        assert replays.replay(**window, actor=SYSTEM).queued == expected
