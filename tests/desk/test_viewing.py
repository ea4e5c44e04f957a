"""Staff look at a tenant's dashboard as the tenant sees it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import resolve

from common.clock import text_of, utc_now
from dashboard import urls
from funding.models import FundingSource, FundingTransaction
from payments.models import Payment, Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tenants.models import ApiKey, AuditEvent, Membership
from tests.balance.builders import fund
from tests.builders import NOW, make_auto_funding, make_endpoint, make_key, make_source, session_of
from tests.funding.builders import top_up
from tests.payments.builders import account, pay
from webhooks.models import WebhookDelivery, WebhookEndpoint, WebhookEvent

REASON = "Ticket 4711: balance looks wrong"


def view_as(browser, tenant):
    return browser.post(f"/admin/desk/tenants/{tenant.pk}/view-as/", {"reason": REASON})


def busy(tenant):
    """Something on every page that has a button for it."""
    fund(tenant, 100_000)
    make_endpoint(tenant)
    make_auto_funding(tenant)
    make_key(tenant)
    recipients.save(tenant_id=tenant.pk, details=account(), actor=SYSTEM, now=NOW)
    pay(tenant, 1_000)
    top_up(tenant)


def every_page(tenant):
    """The address of each page, with the first row of the tenant where it needs one."""
    mine = {"tenant": tenant}
    rows = {
        "funding_id": FundingTransaction.objects.filter(**mine).first(),
        "payment_id": Payment.objects.filter(**mine).first(),
        "recipient_id": Recipient.objects.filter(**mine, is_saved=True).first(),
        "source_id": FundingSource.objects.filter(**mine).first(),
        "membership_id": Membership.objects.filter(**mine).first(),
        "key_id": ApiKey.objects.filter(**mine).first(),
        "endpoint_id": WebhookEndpoint.objects.filter(**mine).first(),
        "event_id": WebhookEvent.objects.filter(**mine).first(),
        "delivery_id": WebhookDelivery.objects.filter(event__tenant=tenant).first(),
        "year": NOW.year,
        "month": NOW.month,
    }
    for pattern in urls._tenant_pages:
        path = re.sub(
            r"<(?:\w+:)?(\w+)>",
            lambda found: str(getattr(rows.get(found[1]), "pk", rows.get(found[1]))),
            str(pattern.pattern),
        )
        yield f"/dashboard/{path}"


def actions():
    return [
        (event.action, event.details)
        for event in AuditEvent.objects.filter(action__contains="view").order_by("pk")
    ]


@pytest.fixture
def viewing(desk, acme):
    view_as(desk, acme)
    return desk


class TestViewing:
    def test_shows_the_tenants_pages_under_a_banner(self, desk, acme):
        fund(acme, 123_456)

        response = view_as(desk, acme)

        assert response["Location"] == "/dashboard/"
        content = desk.get("/dashboard/").content.decode()
        assert "$1,234.56" in content
        assert "Staff view, read only." in content

    @pytest.mark.parametrize(
        "path", ["transactions", "funding", "bank-accounts", "api-keys", "webhooks", "topup/"]
    )
    def test_opens_what_the_owner_may_open(self, viewing, acme, path):
        make_source(acme)

        response = viewing.get(f"/dashboard/{path}")

        assert response.status_code == 200
        assert b"Staff view, read only." in response.content

    def test_has_no_messages_to_choose(self, viewing):
        assert viewing.get("/dashboard/notifications").status_code == 403

    def test_is_on_the_record_with_its_reason(self, viewing, sam, acme):
        event = AuditEvent.objects.get(action="tenant.viewed_by_staff")

        assert (event.tenant_id, event.actor_type, event.actor_id) == (acme.pk, "staff", sam.pk)
        assert event.staff_note == REASON

    def test_keeps_its_reason_from_the_tenant(self, viewing, acme, dana_browser):
        content = dana_browser.get("/dashboard/audit-log").content.decode()

        assert "Looked at the dashboard to help, read only" in content
        assert "Ticket 4711" not in content

    def test_needs_a_reason(self, desk, acme):
        response = desk.post(f"/admin/desk/tenants/{acme.pk}/view-as/", {"reason": ""})

        assert response.status_code == 200
        assert actions() == []
        assert desk.get("/dashboard/")["Location"] == "/admin/"

    def test_needs_the_permission(self, staff_with, acme):
        browser = staff_with("tenants.view_tenant")

        assert view_as(browser, acme).status_code == 403
        assert browser.get("/dashboard/")["Location"] == "/admin/"


class TestNobodyActs:
    @pytest.mark.parametrize(
        "path", ["api-keys/new", "bank-accounts/enter", "topup/", "tenant", "webhooks/new"]
    )
    def test_every_post_is_refused(self, viewing, acme, path):
        response = viewing.post(f"/dashboard/{path}", {"acting_for": acme.pk, "name": "Mine"})

        assert response.status_code == 403
        assert not ApiKey.objects.exists()

    def test_on_every_page_there_is(self, viewing, acme):
        answered = {}
        for pattern in urls._tenant_pages:
            path = "/dashboard/" + re.sub(r"<[^>]+>", "x", str(pattern.pattern))
            answered[path] = viewing.post(path, {"acting_for": acme.pk}).status_code

        assert len(answered) > 30
        assert {path: code for path, code in answered.items() if code not in {403, 404, 405}} == {}

    def test_no_page_has_a_live_button(self, viewing, acme, dana):
        busy(acme)
        seen = set()
        for path in every_page(acme):
            response = viewing.get(path)
            if response.streaming:
                response.getvalue()  # or its cursor would stay open into another test
            if response.status_code != 200 or "text/html" not in response["Content-Type"]:
                continue
            content = response.content.decode()
            seen.add(path)
            acting = re.findall(r"<form\b.*?</form>", content, re.DOTALL)
            acting = [form for form in acting if 'name="acting_for"' in form]
            live = [
                button
                for form in acting
                for button in re.findall(r"<button[^>]*>", form)
                if " disabled" not in button
            ]
            assert live == [], path
            for href in re.findall(r'<a[^>]*class="button[^>]*href="([^"#?]+)', content):
                assert not getattr(resolve(href).func, "acts", False), (path, href)
            assert " hx-post=" not in content, path
        assert len(seen) > 40

    def test_the_tenants_own_people_keep_theirs(self, acme, dana_browser):
        content = dana_browser.get("/dashboard/").content.decode()

        assert '<a class="button" href="/dashboard/pay/">Pay</a>' in content
        assert " disabled" not in content

    def test_looks_like_it(self, viewing):
        content = viewing.get("/dashboard/").content.decode()

        assert (
            '<span class="button" role="link" aria-disabled="true"'
            ' title="Staff view: only to look">Pay</span>'
        ) in content
        assert ">End</button>" in content

    @pytest.mark.parametrize("method", ["put", "patch", "delete"])
    def test_so_is_every_other_method(self, viewing, method):
        assert getattr(viewing, method)("/dashboard/").status_code in {403, 405}


class TestEnd:
    def test_leads_back_to_the_desk_and_is_on_the_record(self, viewing, acme):
        response = viewing.post("/admin/desk/stop-viewing/")

        assert response["Location"] == f"/admin/desk/tenants/{acme.pk}/"
        assert viewing.get("/dashboard/")["Location"] == "/admin/"
        assert actions()[-1] == ("tenant.view_by_staff_ended", {"how": "ended"})

    def test_comes_by_itself_after_half_an_hour(self, viewing, acme):
        session = session_of(viewing)
        began = utc_now() - timedelta(minutes=31)
        session["staff_view"] = {
            "tenant_id": acme.pk,
            "until": text_of(began + timedelta(minutes=30)),
        }
        session.save()

        assert viewing.get("/dashboard/")["Location"] == "/admin/"
        assert actions()[-1] == ("tenant.view_by_staff_ended", {"how": "time was up"})

    def test_comes_at_once_for_somebody_who_no_longer_works_here(self, viewing, sam):
        sam.is_staff = sam.is_superuser = False
        sam.save()

        assert viewing.get("/dashboard/").status_code == 403

    def test_of_one_tenant_is_the_beginning_of_the_next(self, viewing, rival):
        view_as(viewing, rival)

        content = viewing.get("/dashboard/").content.decode()
        assert "You see Rival" in content
        assert [action for action, _details in actions()] == [
            "tenant.viewed_by_staff",
            "tenant.view_by_staff_ended",
            "tenant.viewed_by_staff",
        ]

    def test_is_no_page_to_look_at(self, viewing):
        assert viewing.get("/admin/desk/stop-viewing/").status_code == 405


class TestMembers:
    def test_gain_nothing_from_a_forged_session(self, dana_browser, rival):
        session = session_of(dana_browser)
        session["staff_view"] = {
            "tenant_id": rival.pk,
            "until": text_of(utc_now() + timedelta(hours=1)),
        }
        session.save()

        content = dana_browser.get("/dashboard/").content.decode()

        assert "Rival" not in content
        assert "Staff view" not in content
