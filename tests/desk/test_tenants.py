from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.admin.utils import quote
from django.urls import reverse

from common.clock import utc_now
from funding.models import FundingLimit
from funding.states import FundingStatus
from payments.caps import CapScope, Window
from payments.models import PaymentSettings
from payments.services import approval_settings, cool_down_settings, orders
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Mode, TenantStatus
from tests.balance.builders import fund
from tests.builders import (
    NOW,
    enter_as,
    make_endpoint,
    make_funding,
    make_key,
    make_member,
    make_source,
    make_tenant,
)
from tests.payments.builders import account, pay, run_due, take
from tests.payments.test_limits import limit


def audited(action):
    return AuditEvent.objects.get(action=action)


@pytest.fixture
def busy(acme):
    make_funding(
        acme,
        make_source(acme),
        status=FundingStatus.PENDING,
        amount=77_700,
        description="November float",
    )
    make_endpoint(acme)
    make_key(acme)
    make_member(acme, email="dana@acme.example")
    fund(acme, 123_456, description="Opening balance")
    pay(acme, 10_000)
    return acme


def words(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def page_of(browser, tenant, part=""):
    return browser.get(f"/admin/desk/tenants/{tenant.pk}/{part}")


class TestFile:
    def test_shows_everything_with_links(self, desk, busy, django_assert_max_num_queries):
        with django_assert_max_num_queries(30):
            content = page_of(desk, busy).content.decode()

        for text in (
            "$1,134.56",  # available
            "$777.00",  # on its way in
            "November float",  # what for
            "$100.00",  # on its way out
            "Opening balance",
            "https://hooks.example.com/in",
            "dana@acme.example",
            "Created this organization",
            "Supplier LLC",
            "Ready to send",  # in its tenant's words
        ):
            assert text in content
        for model in (
            "funding/fundingtransaction",
            "payments/payment",
            "balance/balancetransaction",
            "webhooks/webhookendpoint",
            "tenants/apikey",
            "tenants/auditevent",
        ):
            assert f'href="/admin/{model}/' in content

    def test_shows_the_limits_on_money_out(self, desk, acme):
        fund(acme, 100_000)
        limit(acme, CapScope.TENANT, Window.DAY, amount=50_000, payments=7)
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=10_000, actor=SYSTEM, now=NOW)
        cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
        orders.place(
            tenant_id=acme.pk,
            mode=acme.mode,
            order=orders.Order(amount=20_000, recipient=account()),
            actor=SYSTEM,
            now=utc_now(),
        )

        said = words(page_of(desk, acme))

        assert "Limits for money out All payments, 24 hours $200.00 used of $500.00; 1 of 7" in said
        assert "To one recipient, 24 hours no limit own" in said
        assert "A second person approves above $100.00" in said
        assert "Cool-down of new recipients 24 hours" in said
        assert "It counts from" not in said

    def test_shows_looser_limits_on_money_out_that_wait(self, desk, acme):
        rules = PaymentSettings.objects.create(
            tenant=acme,
            approval_threshold=10_000,
            next_threshold=90_000,
            next_at=utc_now() + timedelta(hours=3),
            next_by=make_member(acme, email="dana@acme.example").pk,
            cool_down_hours=24,
            next_cool_down_hours=1,
            next_cool_down_at=utc_now() + timedelta(hours=3),
            updated_at=utc_now(),
        )

        said = words(page_of(desk, acme))

        assert (
            "A second person approves: above $100.00 now, above $900.00 later."
            " dana@acme.example asked. It counts from"
        ) in said
        assert "for: 24 hours now, 1 hour later. Ballast support asked." in said
        rules.refresh_from_db()
        assert rules.approval_threshold == 10_000

    def test_shows_what_the_deployment_says_to_a_live_tenant(self, desk, db):
        said = words(page_of(desk, make_tenant(mode=Mode.LIVE)))

        assert "All payments, 24 hours $0.00 used of " in said

    def test_calls_ready_to_send_only_what_is(self, desk, acme):
        fund(acme, 10_000)
        pay(acme, 10_000)
        take(acme, 1)
        run_due()

        content = page_of(desk, acme).content.decode()

        assert "Held back" in content
        assert "Ready to send" not in content

    def test_of_a_new_tenant_is_not_empty(self, desk, acme):
        content = page_of(desk, acme).content.decode()

        assert "No postings yet." in content
        assert "Auto-funding is off" in content

    def test_shows_nothing_of_another_tenant(self, desk, busy, rival):
        content = page_of(desk, rival).content.decode()

        assert "dana@acme.example" not in content
        assert "1,134.56" not in content

    @pytest.mark.parametrize("model", ["balance/adjustmentproposal", "tenants/switch"])
    def test_leads_to_forms_that_know_the_tenant(self, desk, acme, model):
        address = f"/admin/{model}/add/?tenant={acme.pk}"

        assert address in page_of(desk, acme).content.decode()
        assert f'value="{acme.pk}" selected' in desk.get(address).content.decode()

    def test_without_people_leads_to_the_proposal_of_an_owner(self, desk, staff_with, acme):
        address = f"/admin/tenants/accessproposal/add/?kind=member&tenant={acme.pk}"
        link = address.replace("&", "&amp;")

        assert link in page_of(desk, acme).content.decode()
        assert f'value="{acme.pk}" selected' in desk.get(address).content.decode()
        assert link not in page_of(staff_with("tenants.view_tenant"), acme).content.decode()

    def test_is_where_the_list_of_tenants_leads(self, desk, acme):
        link = reverse("admin:tenants_tenant_change", args=[quote(acme.pk)])
        page = desk.get("/admin/tenants/tenant/").content.decode()
        assert f'href="/admin/desk/tenants/{acme.pk}/"' in page

        assert desk.get(link)["Location"] == f"/admin/desk/tenants/{acme.pk}/"

    @pytest.mark.parametrize(
        "tenant_id", ["ten_nobody", "nul%00", "ten_01m7yd5kmmwf7sj4kftsgt9b09"]
    )
    def test_of_nobody_is_not_found(self, desk, db, tenant_id):
        assert desk.get(f"/admin/desk/tenants/{tenant_id}/").status_code == 404


class TestDoor:
    PARTS = ("", "suspend/", "release/", "limits/")

    @pytest.mark.parametrize("part", PARTS)
    def test_is_closed_to_strangers_and_members(self, client, acme, part):
        member = make_member(acme, email="dana@acme.example")
        assert page_of(client, acme, part).status_code == 302

        enter_as(client, member)

        assert page_of(client, acme, part).status_code == 302

    @pytest.mark.parametrize("part", PARTS)
    def test_is_closed_to_staff_without_the_permission(self, staff_with, acme, part):
        assert page_of(staff_with(), acme, part).status_code == 403

    def test_lets_a_viewer_look_and_change_nothing(self, staff_with, acme):
        viewer = staff_with("tenants.view_tenant")

        assert page_of(viewer, acme).status_code == 200
        assert "Suspend" not in page_of(viewer, acme).content.decode()
        for part in ("suspend/", "release/", "limits/"):
            response = viewer.post(
                f"/admin/desk/tenants/{acme.pk}/{part}", {"reason": "because I can"}
            )
            assert response.status_code == 403
        acme.refresh_from_db()
        assert acme.status == TenantStatus.ACTIVE

    def test_is_never_cached(self, desk, acme):
        assert "no-store" in page_of(desk, acme)["Cache-Control"]


class TestSuspension:
    def test_needs_a_reason_and_is_audited(self, desk, sam, acme):
        address = f"/admin/desk/tenants/{acme.pk}/suspend/"

        assert "Fill in this field." in desk.post(address, {"reason": " "}).content.decode()
        acme.refresh_from_db()
        assert acme.status == TenantStatus.ACTIVE

        response = desk.post(address, {"reason": "Returns over the level"}, follow=True)
        acme.refresh_from_db()
        assert acme.status == TenantStatus.SUSPENDED
        assert "Acme is suspended." in response.content.decode()
        event = audited("tenant.suspended")
        assert (event.actor_id, event.staff_note) == (sam.pk, "Returns over the level")

    def test_is_lifted_with_a_reason(self, desk, acme):
        desk.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": "Returns too high"})

        desk.post(f"/admin/desk/tenants/{acme.pk}/release/", {"reason": "Talked to the owner"})

        acme.refresh_from_db()
        assert acme.status == TenantStatus.ACTIVE
        assert audited("tenant.released").staff_note == "Talked to the owner"

    def test_tells_what_it_does_before(self, desk, acme):
        content = page_of(desk, acme, "suspend/").content.decode()

        assert "returns are still posted" in content


class TestLimits:
    def change(self, desk, acme, **fields):
        return desk.post(
            f"/admin/desk/tenants/{acme.pk}/limits/", {"reason": "Agreed by phone", **fields}
        )

    def test_are_set_in_dollars_and_audited(self, desk, acme):
        self.change(desk, acme, daily_max="2,500.00", rtp_transaction_max="$100")

        row = FundingLimit.objects.get(tenant=acme)
        assert (row.daily_max, row.rtp_transaction_max) == (250_000, 10_000)
        assert (row.ach_transaction_max, row.monthly_max) == (None, None)
        event = audited("tenant.limits_changed")
        assert event.staff_note == "Agreed by phone"
        assert event.details["from"]["daily_max"] is None
        assert event.details["to"]["daily_max"] == 250_000

    def test_go_back_to_the_usual_ones(self, desk, acme):
        self.change(desk, acme, daily_max="2,500.00")

        self.change(desk, acme, daily_max="")

        assert FundingLimit.objects.get(tenant=acme).daily_max is None

    def test_are_shown_in_the_form_as_they_are(self, desk, acme):
        self.change(desk, acme, daily_max="2,500.00")

        assert 'value="$2,500.00"' in page_of(desk, acme, "limits/").content.decode()

    @pytest.mark.parametrize("amount", ["0", "-5", "abc", "1.234", "9" * 15 + ".99"])
    def test_that_make_no_sense_are_refused(self, desk, acme, amount):
        content = self.change(desk, acme, daily_max=amount).content.decode()

        assert "An amount like 2,500.00" in content
        assert not FundingLimit.objects.exists()

    def test_unchanged_leave_no_trace(self, desk, acme):
        self.change(desk, acme)

        assert not AuditEvent.objects.filter(action="tenant.limits_changed").exists()
