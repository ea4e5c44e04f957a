"""The list of endpoints, one endpoint with its deliveries, one delivery."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from tests.builders import NOW, make_endpoint, publish
from webhooks.models import DisabledReason, WebhookAttempt, WebhookDelivery
from webhooks.states import DeliveryStatus, EndpointStatus

ROOT = "/dashboard/webhooks"


def deliver(tenant, *, status="delivered", **fields):
    """An event whose deliveries ended in `status`."""
    event_id = publish(tenant, now=fields.pop("now", utc_now()), **fields)
    rows = WebhookDelivery.objects.filter(event_id=event_id)
    due = NOW if status == DeliveryStatus.PENDING else None
    rows.update(status=status, attempts=1, last_status_code=200, next_attempt_at=due)
    return rows.get()


class TestList:
    def test_empty_teaches_and_leads_on(self, dana_browser):
        content = dana_browser.get(ROOT).content.decode()

        assert "No endpoint yet" in content
        assert 'href="/dashboard/webhooks/new"' in content

    def test_shows_where_events_go_but_no_secret(self, acme, dana_browser):
        endpoint = make_endpoint(acme, events=["payment.failed"], last_success_at=NOW)

        content = dana_browser.get(ROOT).content.decode()

        assert "https://hooks.example.com/in" in content
        assert "payment.failed" in content
        assert "Healthy" in content
        assert "whsec_" not in content
        assert endpoint.secret_token not in content

    def test_shows_how_the_last_deliveries_went(self, acme, dana_browser):
        make_endpoint(acme)
        for _ in range(2):
            deliver(acme)
        deliver(acme, status="failed")

        content = dana_browser.get(ROOT).content.decode()

        assert 'aria-label="Last 3: 2 delivered, 1 failed"' in content
        assert "66.6% of those sent in 24 hours arrived" in content
        assert '<rect class="health__bad" x="2" y="0" width="1"' in content

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"consecutive_failures": 3}, ["Failing"]),
            (
                {"status": EndpointStatus.DISABLED, "disabled_reason": DisabledReason.GONE},
                ["Off", "It answered 410 Gone"],
            ),
        ],
    )
    def test_says_what_is_wrong(self, acme, dana_browser, fields, words):
        make_endpoint(acme, **fields)

        content = dana_browser.get(ROOT).content.decode()

        assert [word for word in words if word not in content] == []

    def test_hides_other_tenants(self, rival, dana_browser):
        make_endpoint(rival)

        assert b"No endpoint yet" in dana_browser.get(ROOT).content


class TestEndpoint:
    def test_lists_deliveries_newest_first(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        first = deliver(acme, type="payment.created", now=utc_now() - timedelta(hours=1))
        last = deliver(acme)

        content = dana_browser.get(f"{ROOT}/{endpoint.pk}").content.decode()

        assert content.index(last.pk) < content.index(first.pk)
        assert "200 OK" in content

    def test_narrows_by_status_and_event(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        wanted = deliver(acme, status="failed", type="payment.returned")
        others = [deliver(acme, status="failed"), deliver(acme, type="payment.returned")]

        path = f"{ROOT}/{endpoint.pk}?status=failed&type=payment.returned"
        content = dana_browser.get(path).content.decode()

        assert wanted.pk in content
        assert [other.pk for other in others if other.pk in content] == []

    def test_pages_keep_the_filter_also_when_a_row_has_left_it(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        for number in range(26):
            deliver(acme, status="failed", now=NOW + timedelta(seconds=number))
        path = f"{ROOT}/{endpoint.pk}?status=failed"
        older = dana_browser.get(path).context["page"].older
        link = f"{path}&amp;before={older}"
        assert link in dana_browser.get(path).content.decode()

        WebhookDelivery.objects.filter(pk=older).update(status="pending", next_attempt_at=NOW)
        rows = dana_browser.get(f"{path}&before={older}").context["deliveries"]

        assert len(rows) == 1

    def test_names_the_next_try_unless_one_is_under_way(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        deliver(acme, status="pending")
        times = []
        for until in (None, NOW + timedelta(minutes=1)):
            WebhookDelivery.objects.update(failures=1, leased_until=until)
            (line,) = dana_browser.get(f"{ROOT}/{endpoint.pk}").context["deliveries"]
            times.append(line.next_attempt_at)

        assert times == [NOW, None]

    @pytest.mark.parametrize(
        "query", ["status=odd", "type=%00", "status=failed&type=payment", "status=" + "a" * 5000]
    )
    def test_explains_odd_filters(self, acme, dana_browser, query):
        endpoint = make_endpoint(acme)
        deliver(acme)

        response = dana_browser.get(f"{ROOT}/{endpoint.pk}?{query}")

        assert response.status_code == 422
        assert b"Choose one from the list." in response.content

    @pytest.mark.parametrize("before", ["%00", "dlv_1", "%F0%9F%92%A9", "a" * 5000, "'--"])
    def test_knows_no_odd_places(self, acme, dana_browser, before):
        endpoint = make_endpoint(acme)

        assert dana_browser.get(f"{ROOT}/{endpoint.pk}?before={before}").status_code == 404

    @pytest.mark.parametrize("endpoint_id", ["wh_1", "%00", "a" * 300, "..", "wh_" + "0" * 26])
    def test_that_is_none_is_not_found(self, dana_browser, endpoint_id):
        assert dana_browser.get(f"{ROOT}/{endpoint_id}").status_code == 404

    def test_of_another_tenant_is_not_found(self, rival, dana_browser):
        assert dana_browser.get(f"{ROOT}/{make_endpoint(rival).pk}").status_code == 404


class TestDelivery:
    def attempted(self, tenant, **fields):
        row = deliver(tenant)
        values = {"status_code": 200, "duration_ms": 45, "started_at": NOW, "number": 1, **fields}
        WebhookAttempt.objects.create(delivery=row, **values)
        return row

    def test_shows_request_and_answer_of_each_try(self, acme, dana_browser):
        make_endpoint(acme)
        row = self.attempted(
            acme,
            status_code=500,
            response="<b>boom</b>",
            response_headers=[["Server", "own"]],
        )
        WebhookAttempt.objects.create(
            delivery=row, number=2, error="timeout", duration_ms=15_000, started_at=NOW
        )

        content = dana_browser.get(f"/dashboard/deliveries/{row.pk}").content.decode()

        assert "500 Internal Server Error" in content
        assert "45 ms" in content
        assert "Server: own" in content
        assert "&lt;b&gt;boom&lt;/b&gt;" in content
        assert "No answer within 15 seconds" in content
        assert f"webhook-id: {row.event_id}" in content
        assert f"webhook-timestamp: {int(NOW.timestamp())}" in content

    def test_says_that_it_waits_for_an_earlier_event(self, acme, dana_browser):
        make_endpoint(acme)
        row = deliver(acme, status="pending")
        WebhookDelivery.objects.update(is_parked=True)

        page = dana_browser.get(f"/dashboard/deliveries/{row.pk}").content.decode()
        listed = dana_browser.get(f"{ROOT}/{row.endpoint_id}").content.decode()

        assert "Right after the payment's earlier event is delivered, or at the latest on" in page
        assert "waiting for the payment's earlier event" in listed

    def test_shows_the_bytes_that_were_signed(self, acme, dana_browser):
        make_endpoint(acme)
        row = self.attempted(acme)

        context = dana_browser.get(f"/dashboard/deliveries/{row.pk}").context

        assert context["body"].sent.encode() == bytes(row.event.body)
        assert '\n  "type": "payment.completed"' in context["body"].readable

    @pytest.mark.parametrize(("status", "is_live"), [("pending", True), ("delivered", False)])
    def test_refreshes_itself_while_it_is_on_its_way(self, acme, dana_browser, status, is_live):
        make_endpoint(acme)
        path = f"/dashboard/deliveries/{deliver(acme, status=status).pk}"

        live = f'hx-get="{path}"'.encode()
        assert (live in dana_browser.get(path).content) is is_live
        part = dana_browser.get(path, headers={"HX-Request": "true", "X-Tenant": acme.pk})
        assert b"<h1" not in part.content
        assert b"Attempts" in part.content

    @pytest.mark.parametrize(
        ("payment_id", "path"),
        [("ftx_1", "/dashboard/funding/ftx_1"), ("pay_1", "/dashboard/payments/pay_1")],
    )
    def test_leads_to_the_money_it_is_about(self, acme, dana_browser, payment_id, path):
        make_endpoint(acme)
        row = deliver(acme, payment_id=payment_id)

        for page in (f"/dashboard/deliveries/{row.pk}", f"/dashboard/events/{row.event_id}"):
            assert f'href="{path}"' in dana_browser.get(page).content.decode()

    def test_of_another_tenant_is_not_found(self, rival, dana_browser):
        make_endpoint(rival)
        row = deliver(rival)

        assert dana_browser.get(f"/dashboard/deliveries/{row.pk}").status_code == 404
