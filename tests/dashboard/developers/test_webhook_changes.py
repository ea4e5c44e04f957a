"""Owners register, change, switch and remove endpoints, and rotate their secrets."""

from __future__ import annotations

import base64
import re
from datetime import timedelta

import pytest

from common import crypto, ids
from common.clock import utc_now
from dashboard.developers.webhooks.forms import EditEndpointForm, EndpointForm, RotateSecretForm
from tenants.models import AuditEvent, Role
from tests.builders import make_endpoint, make_member, publish
from webhooks import events
from webhooks.models import WebhookDelivery, WebhookEndpoint
from webhooks.states import DeliveryStatus, EndpointStatus

ROOT = "/dashboard/webhooks"


def wish(tenant, *, form_class=EndpointForm, **fields):
    form = form_class(tenant_id=tenant.pk, what=ids.new("wh"))
    return {
        "acting_for": tenant.pk,
        "token": form["token"].value(),
        "url": "https://93.184.215.14/hook",
        "scope": "every",
        **fields,
    }


def change(tenant, **fields):
    return wish(tenant, form_class=EditEndpointForm, **fields)


def secret_in(response):
    (text,) = re.findall(r"whsec_[\w+/=]+", response.content.decode())
    return text


def secret_of(endpoint):
    endpoint.refresh_from_db()
    return crypto.decrypt(endpoint.secret_token, context=endpoint.encryption_context)


def test_every_event_is_explained():
    assert set(events.MEANINGS) == set(events.ALL)


class TestRegistering:
    def test_shows_the_secret_once(self, acme, dana, dana_browser):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, description="orders"))

        endpoint = WebhookEndpoint.objects.get()
        assert secret_in(response) == secret_of(endpoint)
        assert response["Cache-Control"] == "private, no-store"
        assert (endpoint.url, endpoint.events) == ("https://93.184.215.14/hook", ["*"])
        assert endpoint.description == "orders"
        assert AuditEvent.objects.get(action="webhook.registered").actor_id == dana.pk
        assert b"whsec_" not in dana_browser.get(f"{ROOT}/{endpoint.pk}").content

    def test_by_a_double_click_makes_one_and_shows_its_secret_both_times(self, acme, dana_browser):
        sent = wish(acme)

        first, second = (dana_browser.post(f"{ROOT}/new", sent) for _ in range(2))

        assert secret_in(first) == secret_in(second)
        assert WebhookEndpoint.objects.count() == 1

    def test_again_where_the_new_key_is_not_known_yet_names_that_and_no_database(
        self, acme, dana_browser, settings, log
    ):
        sent, old = wish(acme), list(settings.ENCRYPTION_KEYS)
        settings.ENCRYPTION_KEYS = [f"k9:{base64.b64encode(b'9' * 32).decode()}", *old]
        dana_browser.post(f"{ROOT}/new", sent)
        settings.ENCRYPTION_KEYS = old

        page = dana_browser.post(f"{ROOT}/new", sent)

        assert (page.status_code, page["Retry-After"]) == (503, "1")
        assert b"encrypted with a new key that this server does not have yet" in page.content
        assert b"database" not in page.content
        (line,) = log.of("encryption_key_unknown")
        assert "is encrypted with key 'k9', which is not here" in line["error"]
        assert log.of("database_unavailable") == []

    def test_by_a_form_whose_endpoint_was_removed_makes_none(self, acme, dana_browser):
        sent = wish(acme)
        dana_browser.post(f"{ROOT}/new", sent)
        endpoint = WebhookEndpoint.objects.get()
        dana_browser.post(f"{ROOT}/{endpoint.pk}/remove", {"acting_for": acme.pk})

        response = dana_browser.post(f"{ROOT}/new", sent)

        assert response.status_code == 422
        assert b"was removed" in response.content
        assert WebhookEndpoint.objects.get().status == EndpointStatus.REMOVED

    def test_takes_the_events_that_were_ticked(self, acme, dana_browser):
        sent = wish(acme, scope="some", payments=["payment.failed"], notices=["balance.low"])

        dana_browser.post(f"{ROOT}/new", sent)

        assert WebhookEndpoint.objects.get().events == ["payment.failed", "balance.low"]

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"url": ""}, "Enter the address"),
            ({"url": "http://hooks.example.com"}, "must use https"),
            ({"url": "https://hooks.example.com:22/"}, "port must be 443 or 1024"),
            ({"url": "https://127.0.0.1/"}, "not public"),
            ({"url": "https://user:pass@hooks.example.com/"}, "user name or password"),
            ({"url": "javascript:alert(1)"}, "must start with https"),
            ({"url": "\0"}, "Remove the characters"),
            ({"url": "https://a.example/" + "a" * 3000}, "at most 2048"),
            ({"scope": "some"}, "Choose at least one"),
            ({"scope": "odd"}, "is not one of the choices"),
            ({"scope": "some", "payments": ["payment.exploded"]}, "is not one of the choices"),
            ({"description": "a\u200bb"}, "visible characters"),
            ({"description": "a" * 141}, "at most 140"),
        ],
    )
    def test_explains_what_is_wrong(self, acme, dana_browser, fields, words):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, **fields))

        assert response.status_code == 422
        assert words in str(response.context["form"].errors)
        assert not WebhookEndpoint.objects.exists()

    def test_says_when_there_are_too_many(self, acme, dana_browser):
        for number in range(20):
            make_endpoint(acme, url=f"https://hooks.example.com/{number}")

        response = dana_browser.post(f"{ROOT}/new", wish(acme))

        assert response.status_code == 422
        assert b"at most 20 endpoints" in response.content


class TestEditing:
    def test_shows_what_is_and_saves_what_was_typed(self, acme, dana_browser):
        endpoint = make_endpoint(acme, events=["payment.failed"])
        path = f"{ROOT}/{endpoint.pk}/edit"
        form = dana_browser.get(path).context["form"]
        assert (form["url"].value(), form["scope"].value()) == (endpoint.url, "some")

        response = dana_browser.post(path, change(acme, url="https://93.184.215.14/new"))

        assert response["Location"] == f"{ROOT}/{endpoint.pk}"
        endpoint.refresh_from_db()
        assert (endpoint.url, endpoint.events) == ("https://93.184.215.14/new", ["*"])

    def test_refuses_an_address_that_is_not_public(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        sent = change(acme, url="https://169.254.169.254/")

        response = dana_browser.post(f"{ROOT}/{endpoint.pk}/edit", sent)

        assert response.status_code == 422
        assert b"not public" in response.content

    def test_opens_no_way_to_the_secret(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        form = dana_browser.get(f"{ROOT}/{endpoint.pk}/edit").context["form"]

        sent = wish(acme, token=form["token"].value())
        response = dana_browser.post(f"{ROOT}/new", sent)

        assert response.status_code == 422
        assert b"whsec_" not in response.content
        assert WebhookEndpoint.objects.count() == 1


class TestRotating:
    def test_by_a_double_click_rotates_once(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        old = secret_of(endpoint)
        form = RotateSecretForm(tenant_id=acme.pk, about=endpoint.pk)
        sent = {"acting_for": acme.pk, "token": form["token"].value(), "overlap": "3600"}

        path = f"{ROOT}/{endpoint.pk}/secret"
        first, second = (dana_browser.post(path, sent) for _ in range(2))

        assert secret_in(first) == secret_in(second) == secret_of(endpoint) != old
        kept = crypto.decrypt(endpoint.previous_secret_token, context=endpoint.encryption_context)
        assert kept == old
        until = endpoint.previous_secret_expires_at
        assert until is not None
        assert until - utc_now() > timedelta(minutes=59)
        assert AuditEvent.objects.filter(action="webhook.secret_rotated").count() == 1
        assert b"The old one also signs until" in dana_browser.get(f"{ROOT}/{endpoint.pk}").content

    def test_again_before_the_oldest_secret_ends_says_so(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        path = f"{ROOT}/{endpoint.pk}/secret"

        def rotate(overlap):
            form = RotateSecretForm(tenant_id=acme.pk, about=endpoint.pk)
            sent = {"acting_for": acme.pk, "token": form["token"].value(), "overlap": overlap}
            return dana_browser.post(path, sent)

        kept = secret_in(rotate("3600"))
        refused = rotate("3600")

        assert refused.status_code == 422
        assert b"Wait until then, or choose no overlap." in refused.content
        assert secret_of(endpoint) == kept != secret_in(rotate("0"))

    def test_with_the_form_of_another_endpoint_changes_nothing(self, acme, dana_browser):
        endpoint, other = make_endpoint(acme), make_endpoint(acme)
        old = secret_of(endpoint)
        form = RotateSecretForm(tenant_id=acme.pk, about=other.pk)
        sent = {"acting_for": acme.pk, "token": form["token"].value(), "overlap": "3600"}

        answer = dana_browser.post(f"{ROOT}/{endpoint.pk}/secret", sent)

        assert answer.status_code == 422
        assert secret_of(endpoint) == old


class TestSwitching:
    def test_off_and_on_again(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        path = f"{ROOT}/{endpoint.pk}/switch"

        dana_browser.post(path, {"acting_for": acme.pk, "to": "off"})
        endpoint.refresh_from_db()
        assert endpoint.status == EndpointStatus.DISABLED
        assert b"Switched off by the team" in dana_browser.get(f"{ROOT}/{endpoint.pk}").content

        dana_browser.post(path, {"acting_for": acme.pk, "to": "on"})
        endpoint.refresh_from_db()
        assert endpoint.status == EndpointStatus.ENABLED


class TestRemoving:
    def test_asks_first_and_says_what_it_means(self, acme, dana_browser):
        endpoint = make_endpoint(acme)
        for _ in range(2):
            publish(acme)
        path = f"{ROOT}/{endpoint.pk}/remove"
        assert b"2 deliveries on their way are canceled" in dana_browser.get(path).content

        for _ in range(2):
            response = dana_browser.post(path, {"acting_for": acme.pk}, follow=True)
            assert b"was removed" in response.content

        endpoint.refresh_from_db()
        assert (endpoint.status, endpoint.secret_token) == (EndpointStatus.REMOVED, "")
        statuses = WebhookDelivery.objects.values_list("status", flat=True)
        assert set(statuses) == {DeliveryStatus.CANCELED}


class TestWho:
    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_is_no_owner_changes_nothing(self, acme, sign_in, role):
        endpoint = make_endpoint(acme)
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        answers = {
            browser.post(f"{ROOT}/{path}", wish(acme)).status_code
            for path in ("new", *(f"{endpoint.pk}/{do}" for do in ACTIONS))
        }

        assert answers == {403}
        page = browser.get(f"{ROOT}/{endpoint.pk}").content.decode()
        assert page
        assert [word for word in ("Rotate secret", "Remove", "Switch off") if word in page] == []

    @pytest.mark.parametrize("action", ["edit", "secret", "switch", "remove", "test", "replay"])
    def test_owns_another_tenant_finds_nothing(self, acme, rival, ravi, sign_in, action):
        endpoint = make_endpoint(acme)

        response = sign_in(ravi).post(f"{ROOT}/{endpoint.pk}/{action}", wish(rival))

        assert response.status_code == 404


ACTIONS = ("edit", "secret", "switch", "remove")
