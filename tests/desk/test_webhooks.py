"""One webhook event and one delivery at the desk: the whole chain, for who may see it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common.clock import utc_now
from desk.webhooks import page as pages
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import make_endpoint, publish
from tests.transfers.directions import DIRECTIONS
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from webhooks.states import DeliveryStatus, EndpointStatus

pytestmark = pytest.mark.django_db
DELIVERY, EVENT = "webhooks.view_webhookdelivery", "webhooks.view_webhookevent"
ATTEMPT, ENDPOINT = "webhooks.view_webhookattempt", "webhooks.view_webhookendpoint"
URL = "https://hooks.acme.example/in"


@pytest.fixture(params=list(DIRECTIONS))
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def delivery(acme):
    make_endpoint(acme, url=URL)
    publish(acme, now=utc_now())
    return WebhookDelivery.objects.get()


def text(browser, row):
    kind = "events" if isinstance(row, WebhookEvent) else "deliveries"
    answer = browser.get(f"/admin/desk/{kind}/{row.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def tried(row, count, **columns):
    """So many attempts of the delivery, which the row counts."""
    values = {"status_code": 500, "response": "Broken <pipe>", "duration_ms": 12} | columns
    WebhookAttempt.objects.bulk_create(
        WebhookAttempt(delivery=row, number=number, started_at=utc_now(), **values)
        for number in range(1, count + 1)
    )
    row.attempts = row.failures = count
    row.last_status_code = values["status_code"]
    row.next_attempt_at = utc_now() + timedelta(hours=1)
    row.save()


def engage(kind):
    return switches.engage(kind=kind, reason="Storm", actor=SYSTEM, now=utc_now())


class TestDelivery:
    def test_leads_along_the_whole_chain(self, acme, money, desk):
        make_endpoint(acme, url=URL)
        row = money.make(acme)
        event = WebhookEvent.objects.filter(payment_id=row.pk).earliest("sequence")
        delivery = event.deliveries.get()

        page = text(desk, delivery)

        name = {"in": "funding", "out": "payments"}[money.transfer.direction]
        assert f'href="/admin/desk/{name}/{row.pk}/"' in page
        assert f'href="/admin/desk/events/{event.pk}/"' in page
        assert f'href="/admin/desk/tenants/{acme.pk}/"' in page
        endpoint = f"/admin/webhooks/webhookendpoint/{delivery.endpoint_id}/change/"
        assert f'href="{endpoint}">{URL}' in page
        assert f"{event.type} to hooks.acme.example · " in page.partition("</title>")[0]
        assert f"&quot;paymentId&quot;: &quot;{row.pk}&quot;" in page

    def test_shows_each_attempt_and_its_answer(self, delivery, desk):
        tried(delivery, 2)

        page = text(desk, delivery)

        assert page.count("500 Internal Server Error") == 3  # and the last one among the facts
        assert "Broken &lt;pipe&gt;" in page
        assert "To come: Attempt 3" in page
        assert "The last" not in page

    def test_says_how_many_attempts_there_are_beside_those_shown(self, delivery, desk):
        tried(delivery, pages.ATTEMPTS_SHOWN + 2)

        page = text(desk, delivery)

        assert f"The last {pages.ATTEMPTS_SHOWN} of {pages.ATTEMPTS_SHOWN + 2}." in page
        assert f'href="/admin/webhooks/webhookattempt/?q={delivery.pk}"' in page

    def test_says_that_it_goes_on_once_sending_resumes(self, delivery, desk):
        assert "To come: Sent within seconds" in text(desk, delivery)

        engage(SwitchKind.WEBHOOKS)

        page = text(desk, delivery)
        assert "To come: Sent once sending resumes" in page
        assert "We stopped sending webhooks" in page

    def test_that_waits_leads_to_the_delivery_before_it(self, acme, delivery, desk):
        publish(acme, payment_id=delivery.payment_id, sequence=2, now=utc_now())
        later = WebhookDelivery.objects.get(sequence=2)
        later.is_parked = True
        later.save()

        page = text(desk, later)

        assert f'href="/admin/desk/deliveries/{delivery.pk}/"' in page
        assert "To come: Sent after the earlier event" in page

    def test_to_a_removed_endpoint_is_found_and_cannot_be_sent_again(self, delivery, desk):
        removed = {"status": EndpointStatus.REMOVED, "removed_at": utc_now()}
        WebhookEndpoint.objects.update(**removed)

        assert "removed</dd>" in text(desk, delivery)
        answer = desk.post(f"/admin/desk/deliveries/{delivery.pk}/resend/", follow=True)
        assert "There is no such delivery." in answer.content.decode()

    def test_is_sent_again(self, delivery, desk):
        WebhookDelivery.objects.update(status=DeliveryStatus.FAILED, next_attempt_at=None)
        address = f"/admin/desk/deliveries/{delivery.pk}/resend/"
        assert f'action="{address}"' in text(desk, delivery)

        answer = desk.post(address, follow=True)

        delivery.refresh_from_db()
        assert (delivery.status, delivery.is_manual) == (DeliveryStatus.PENDING, True)
        assert "It is sent again with the same bytes." in answer.content.decode()

    def test_is_sent_again_once_sending_resumes(self, delivery, desk):
        engage(SwitchKind.WEBHOOKS)

        page = desk.post(f"/admin/desk/deliveries/{delivery.pk}/resend/", follow=True)

        said = "Sending webhooks is stopped. It is sent again with the same bytes once sending"
        assert f"{said} resumes." in page.content.decode()

    def test_that_is_sent_again_stands_in_the_audit_log_of_its_tenant(self, delivery, desk, sam):
        desk.post(f"/admin/desk/deliveries/{delivery.pk}/resend/")

        line = AuditEvent.objects.get(action="webhook.resent")
        assert (line.tenant_id, line.subject_id) == (delivery.tenant_id, delivery.pk)
        assert (line.actor_type, line.actor_id) == ("staff", sam.pk)
        assert line.details == {"event": delivery.event.type, "url": URL}

    def test_shows_only_what_its_reader_may_see_elsewhere(self, delivery, staff_with):
        tried(delivery, 1)

        page = text(staff_with(DELIVERY), delivery)

        for kept in (
            URL,
            "Broken",
            "&quot;amount&quot;",
            "$250.00",
            "/admin/desk/events/",
            "/admin/desk/funding/",
            "/admin/desk/tenants/",
            "/resend/",
        ):
            assert kept not in page, kept
        assert "payment.completed to hooks.acme.example · " in page.partition("</title>")[0]

    def test_has_as_many_queries_however_much_hangs_on_it(
        self, delivery, desk, django_assert_max_num_queries
    ):
        tried(delivery, 20)

        with django_assert_max_num_queries(15):
            text(desk, delivery)


class TestEvent:
    def test_shows_its_body_and_leads_to_its_deliveries(self, delivery, desk):
        page = text(desk, delivery.event)

        assert f'href="/admin/desk/deliveries/{delivery.pk}/">{URL}' in page
        assert f'href="/admin/desk/funding/{delivery.payment_id}/"' in page
        assert "&quot;amount&quot;: 25000" in page

    def test_says_how_many_deliveries_there_are_beside_those_shown(
        self, acme, delivery, desk, monkeypatch
    ):
        for number in range(2):
            endpoint = make_endpoint(acme, url=f"{URL}/{number}")
            delivery.pk, delivery.endpoint = None, endpoint
            delivery.pk = WebhookDelivery._meta.pk.get_default()
            delivery._state.adding = True
            delivery.save()
        monkeypatch.setattr(pages, "DELIVERIES_SHOWN", 2)

        page = text(desk, delivery.event)

        assert "The first 2 of 3." in page
        assert f'href="/admin/webhooks/webhookdelivery/?q={delivery.event_id}"' in page

    def test_that_nobody_wanted_says_so(self, acme, desk):
        publish(acme)

        assert "No endpoint wanted it." in text(desk, WebhookEvent.objects.get())

    def test_shows_only_what_its_reader_may_see_elsewhere(self, delivery, staff_with):
        page = text(staff_with(EVENT), delivery.event)

        assert URL not in page
        assert "/admin/desk/funding/" not in page
        assert "/admin/desk/tenants/" not in page


@pytest.mark.parametrize("path", ["events/evt_1", "events/x", "deliveries/dlv_1", "deliveries/x"])
def test_of_what_there_is_not_is_not_found(desk, path):
    assert desk.get(f"/admin/desk/{path}/").status_code == 404


@pytest.mark.parametrize(
    ("model", "page"), [("webhookevent", "events"), ("webhookdelivery", "deliveries")]
)
def test_the_page_in_the_admin_and_its_list_lead_here(desk, delivery, model, page):
    row = delivery if page == "deliveries" else delivery.event
    own = f"/admin/desk/{page}/{row.pk}/"

    assert f'href="{own}"' in desk.get(f"/admin/webhooks/{model}/").content.decode()
    assert desk.get(f"/admin/webhooks/{model}/{row.pk}/change/").headers["Location"] == own
