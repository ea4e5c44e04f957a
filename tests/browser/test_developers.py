"""The developers' pages with something on them, and the way from a key to a delivery."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connections
from playwright.sync_api import expect

from api.models import ApiRequest
from common.clock import utc_now
from tenants.models import ApiKey
from tests.browser.conftest import in_every_look
from tests.browser.test_pages import looked_at
from tests.builders import make_endpoint, make_key, make_source, publish
from tests.receivers import ALLOWED, Receiver, answer
from tests.webhooks.dispatching import deliver
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.states import DeliveryStatus

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]

PROBLEM = {
    "type": "http://localhost:8000/docs/errors#amount_above_limit",
    "title": "Amount above the limit",
    "status": 422,
    "detail": "At most $1,000,000.00 per transaction by ACH debit.",
    "code": "amount_above_limit",
    "errors": [{"field": "amount", "code": "amount_above_limit", "message": "Too much." * 20}],
}


@pytest.fixture
def pages(acme):
    """A tenant that builds on the API; returns the addresses of its pages."""
    make_source(acme)
    for _ in range(3):
        make_key(acme)
    make_key(acme, expires_at=utc_now() + timedelta(days=3), allowed_networks=["203.0.113.0/24"])
    key = ApiKey.objects.order_by("pk")[0]
    endpoints = [
        make_endpoint(acme, description="Order system", last_success_at=utc_now()),
        make_endpoint(acme, url=f"https://hooks.example.com/{'path' * 30}", consecutive_failures=3,
                      first_failure_at=utc_now(), events=["payment.failed", "balance.low"]),
    ]  # fmt: skip
    delivery = _deliveries(acme)
    request = _requests(key)
    hook, far = (f"/dashboard/webhooks/{row.pk}" for row in endpoints)
    return (
        "/dashboard/developers",
        "/dashboard/api-keys",
        "/dashboard/api-keys/new",
        f"/dashboard/api-keys/{key.pk}/rotate",
        f"/dashboard/api-keys/{key.pk}/revoke",
        "/dashboard/webhooks",
        hook,
        far,
        f"{hook}?status=failed",
        f"{hook}/edit",
        f"{far}/edit",
        f"{hook}/secret",
        f"{hook}/replay",
        f"{hook}/remove",
        f"/dashboard/deliveries/{delivery.pk}",
        "/dashboard/events",
        f"/dashboard/events/{delivery.event_id}",
        "/dashboard/requests",
        f"/dashboard/requests/{request.pk}",
    )


def _deliveries(tenant):
    """Thirty deliveries, some of them failed; returns one that was tried twice."""
    for number in range(30):
        publish(tenant, now=utc_now() - timedelta(minutes=30 - number))
    rows = WebhookDelivery.objects.order_by("created_at")
    failed = list(rows.values_list("pk", flat=True)[9:13])
    rows.exclude(pk__in=failed).update(
        status=DeliveryStatus.DELIVERED, attempts=1, last_status_code=200, next_attempt_at=None
    )
    WebhookDelivery.objects.filter(pk__in=failed).update(
        status=DeliveryStatus.FAILED, attempts=11, last_status_code=500, next_attempt_at=None
    )
    row = WebhookDelivery.objects.get(pk=failed[0])
    headers = [["Server", "nginx"], ["Content-Type", "text/html; charset=utf-8"]]
    for number, error in ((1, "timeout"), (2, "")):
        WebhookAttempt.objects.create(
            delivery=row,
            number=number,
            error=error,
            status_code=None if error else 500,
            response="" if error else "<h1>Internal Server Error</h1>" * 9,
            response_headers=[] if error else headers,
            duration_ms=15_000 if error else 45,
            started_at=utc_now(),
        )
    return row


def _requests(key):
    """Thirty requests; returns one that was refused."""
    refused = ApiRequest(status=422, error_code="amount_above_limit", problem=PROBLEM)
    rows = [refused, *(ApiRequest(status=200) for _ in range(29))]
    for number, row in enumerate(rows):
        row.tenant_id, row.key, row.method = key.tenant_id, key, "POST" if number % 3 else "GET"
        row.path = "/api/v1/balance/topup" if number % 3 else "/api/v1/funding/" + "a" * 120
        row.request_id, row.idempotency_key = "x" * 128, "invoice-7"
        row.duration_us, row.address = 12_345, "203.0.113.7"
        row.created_at = utc_now() - timedelta(seconds=number)
    ApiRequest.objects.bulk_create(rows)
    return refused


@in_every_look
def test_nothing_is_wrong_with_busy_pages(visit, dana, pages, scheme, viewport):
    assert looked_at(visit(dana, scheme=scheme, viewport=viewport), pages) == {}


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_key_is_made_once_by_a_double_click(visit, dana, scripts):
    visitor = visit(dana, java_script_enabled=scripts)
    page = visitor.page
    page.goto(visitor.address + "/dashboard/api-keys/new")

    page.get_by_label("Name").fill("billing server")
    page.get_by_label("balance:read").check()
    page.get_by_role("button", name="Create key").dblclick()
    page.get_by_text("Copy the key now").wait_for()

    expect(page.locator("#secret")).to_contain_text("bal_test_")
    expect(page.get_by_role("button", name="Copy")).to_be_visible(visible=scripts)
    assert ApiKey.objects.count() == 1
    assert visitor.complaints == []


def test_a_key_is_copied_with_one_click(visit, dana):
    visitor = visit(dana, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.page
    visitor.goto("/dashboard/api-keys/new")
    page.get_by_label("Name").fill("billing server")
    page.get_by_label("balance:read").check()
    page.get_by_role("button", name="Create key").click()

    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied", exact=True).wait_for()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator("#secret").inner_text()
    assert visitor.complaints == []


def test_from_an_endpoint_to_a_delivery_that_is_sent_again(visit, dana, acme, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True
    with Receiver() as receiver:
        receiver.answers["/200"] = [answer(200, body=b"test taken"), answer(500, body=b"not now")]
        visitor = visit(dana)
        page = visitor.page
        visitor.goto("/dashboard/webhooks")

        page.get_by_role("main").get_by_role("link", name="Add endpoint").first.click()
        page.get_by_label("URL").fill(receiver.url())
        page.get_by_role("button", name="Add endpoint").dblclick()
        page.get_by_text("Copy the secret now").wait_for()
        page.get_by_role("link", name="I have copied it").click()
        assert WebhookEndpoint.objects.count() == 1

        page.get_by_role("button", name="Test now").click()
        page.get_by_text("test taken").wait_for()
        page.get_by_role("link", name="Back").click()

        publish(acme, now=utc_now())
        send_what_is_due()
        page.reload()
        row = page.get_by_role("row").filter(has_text="payment.completed")
        row.get_by_role("link").first.click()
        page.get_by_text("not now").wait_for()

        page.get_by_role("button", name="Resend").click()
        page.get_by_text("We are sending it again").wait_for()
        send_what_is_due()
        page.get_by_text("Delivered", exact=True).first.wait_for()  # without a reload

        bodies = {request.body for request in receiver.requests[1:]}
        assert bodies == {bytes(WebhookEvent.objects.get().body)}
        assert visitor.complaints == []


def send_what_is_due():
    """In a thread of its own: Playwright's event loop runs in this one."""

    def run():
        deliver()
        connections.close_all()

    sending = threading.Thread(target=run)
    sending.start()
    sending.join()
