"""By hand: a test call, one delivery again, a window of events again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from common import ids
from common.clock import utc_now
from dashboard.developers.webhooks.forms import ReplayForm
from tenants import actors
from tenants.models import AuditEvent, Role
from tenants.services import switches
from tenants.switches import SwitchKind
from tests.builders import make_endpoint, make_member, publish
from tests.receivers import ALLOWED, Receiver, answer
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus

ROOT = "/dashboard/webhooks"


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = ALLOWED
    settings.WEBHOOK_ALLOW_HTTP = True
    with Receiver() as running:
        yield running


class TestTestCall:
    def test_shows_what_the_receiver_said(self, acme, dana_browser, receiver):
        receiver.answers["/200"] = [answer(200, body=b"<i>fine</i>", headers="X-Seen: yes\r\n")]
        endpoint = make_endpoint(acme, url=receiver.url())

        response = dana_browser.post(f"{ROOT}/{endpoint.pk}/test", {"acting_for": acme.pk})

        content = response.content.decode()
        assert "It works" in content
        assert "200 OK" in content
        assert "X-Seen: yes" in content
        assert "&lt;i&gt;fine&lt;/i&gt;" in content
        assert receiver.requests[0].headers["webhook-id"] == response.context["event_id"]

    @pytest.mark.parametrize(
        ("path", "words"),
        [("/500", "500 Internal Server Error"), ("/reset", "closed before an answer came")],
    )
    def test_says_why_it_did_not_work(self, acme, dana_browser, receiver, path, words):
        endpoint = make_endpoint(acme, url=receiver.url(path))

        response = dana_browser.post(f"{ROOT}/{endpoint.pk}/test", {"acting_for": acme.pk})

        assert "It did not work" in response.content.decode()
        assert words in response.content.decode()

    def test_runs_one_at_a_time(self, acme, dana_browser):
        endpoint = make_endpoint(acme, testing_until=utc_now() + timedelta(seconds=10))

        response = dana_browser.post(
            f"{ROOT}/{endpoint.pk}/test", {"acting_for": acme.pk}, follow=True
        )

        assert b"has not ended yet" in response.content

    def test_says_when_operators_stopped_sending(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        switches.engage(
            kind=SwitchKind.WEBHOOKS, reason="Incident", actor=actors.SYSTEM, now=utc_now()
        )

        response = dana_browser.post(
            f"{ROOT}/{endpoint.pk}/test", {"acting_for": acme.pk}, follow=True
        )

        assert b"Nothing is sent for the moment" in response.content


class TestResend:
    def test_sends_one_delivery_again(self, acme, dana_browser):
        make_endpoint(acme)
        publish(acme)
        WebhookDelivery.objects.update(status=DeliveryStatus.FAILED, next_attempt_at=None)
        row = WebhookDelivery.objects.get()

        for _ in range(2):
            response = dana_browser.post(
                f"/dashboard/deliveries/{row.pk}/resend", {"acting_for": acme.pk}
            )

        assert response["Location"] == f"/dashboard/deliveries/{row.pk}"
        row.refresh_from_db()
        assert (row.status, row.is_manual) == (DeliveryStatus.PENDING, True)

    def test_of_another_tenant_finds_nothing(self, acme, rival, ravi, sign_in):
        make_endpoint(acme)
        publish(acme)
        path = f"/dashboard/deliveries/{WebhookDelivery.objects.get().pk}/resend"

        assert sign_in(ravi).post(path, {"acting_for": rival.pk}).status_code == 404


class TestReplay:
    @pytest.fixture
    def endpoint(self, acme):
        endpoint = make_endpoint(acme)
        for _ in range(3):
            publish(acme, now=utc_now() - timedelta(hours=1))
        WebhookDelivery.objects.update(status=DeliveryStatus.FAILED, next_attempt_at=None)
        return endpoint

    def wish(self, tenant, *, step, **fields):
        form = ReplayForm(tenant_id=tenant.pk, what=ids.new("rpl"))
        now = utc_now()
        return {
            "acting_for": tenant.pk,
            "token": form["token"].value(),
            "start": f"{now - timedelta(hours=3):%Y-%m-%dT%H:%M}",
            "end": f"{now + timedelta(minutes=1):%Y-%m-%dT%H:%M}",
            "which": "missing",
            "step": step,
            **fields,
        }

    def pending(self):
        return WebhookDelivery.objects.filter(status=DeliveryStatus.PENDING).count()

    def test_says_how_many_before_and_after(self, acme, dana_browser, endpoint):
        path = f"{ROOT}/{endpoint.pk}/replay"

        review = dana_browser.post(path, self.wish(acme, step="review"))
        assert b"Send 3 events again?" in review.content
        assert self.pending() == 0

        done = dana_browser.post(path, self.wish(acme, step="confirm"), follow=True)
        assert b"3 events will be sent again" in done.content
        assert self.pending() == 3

    def test_by_a_double_click_replays_once(self, acme, dana_browser, endpoint):
        sent = self.wish(acme, step="confirm", which="all")
        path = f"{ROOT}/{endpoint.pk}/replay"
        dana_browser.post(path, sent)
        WebhookDelivery.objects.update(status=DeliveryStatus.DELIVERED, next_attempt_at=None)

        response = dana_browser.post(path, sent, follow=True)

        assert b"Once is enough" in response.content
        assert self.pending() == 0

    def test_can_be_sent_again_after_a_refusal(self, acme, dana_browser, endpoint):
        sent = self.wish(acme, step="confirm")
        path = f"{ROOT}/{endpoint.pk}/replay"
        WebhookEndpoint.objects.update(status="disabled", disabled_reason="tenant")
        assert b"endpoint that is off" in dana_browser.post(path, sent).content
        WebhookEndpoint.objects.update(status="enabled", disabled_reason="")

        dana_browser.post(path, sent)

        assert self.pending() == 3

    @pytest.mark.parametrize(
        "fields",
        [
            {"start": ""},
            {"start": "yesterday"},
            {"start": "0001-01-01T00:00"},
            {"end": "9999-12-31T23:59", "start": "2020-01-01T00:00"},
            {"start": "\0"},
            {"start": "2099-01-01T00:00"},
            {"which": "odd"},
        ],
    )
    @pytest.mark.parametrize("step", ["review", "confirm"])
    def test_explains_windows_that_are_none(self, acme, dana_browser, endpoint, fields, step):
        sent = self.wish(acme, step=step) | fields

        response = dana_browser.post(f"{ROOT}/{endpoint.pk}/replay", sent)

        assert response.status_code == 422
        assert response.context["form"].errors
        assert self.pending() == 0


class TestWho:
    @pytest.mark.parametrize(
        ("role", "may"), [(Role.MEMBER, True), (Role.APPROVER, False), (Role.VIEWER, False)]
    )
    def test_may_send_again(self, acme, sign_in, role, may):
        make_endpoint(acme)
        publish(acme)
        row = WebhookDelivery.objects.get()
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        page = browser.get(f"/dashboard/deliveries/{row.pk}")
        response = browser.post(f"/dashboard/deliveries/{row.pk}/resend", {"acting_for": acme.pk})

        assert (b"Resend" in page.content) is may
        assert response.status_code == (302 if may else 403)
        who = AuditEvent.objects.filter(action="webhook.resent").values_list(
            "actor_type", flat=True
        )
        assert list(who) == (["user"] if may else [])
