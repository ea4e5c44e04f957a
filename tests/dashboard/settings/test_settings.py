"""Settings of a tenant, and the messages a person gets about it."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from funding.models import FundingLimit
from tenants.models import AuditEvent, Membership, OutgoingEmail, Role
from tenants.services import emails
from tests.builders import NOW, make_funding, make_member, make_source

PATH = "/dashboard/settings"


@pytest.fixture
def lee(acme):
    return make_member(acme, email="lee@acme.example", role=Role.VIEWER)


class TestSettings:
    def test_show_limits_and_what_is_used(self, acme, dana_browser):
        FundingLimit.objects.create(tenant=acme, daily_max=100_000, monthly_max=None)
        make_funding(acme, make_source(acme), amount=25_000, created_at=utc_now())

        content = dana_browser.get(PATH).content.decode()

        today = content.split("Today")[1].split("</tr>")[0]
        assert [amount in today for amount in ("$1,000.00", "$250.00", "$750.00")] == [True] * 3
        assert "No limit" in content.split("This month")[1]

    def test_rename(self, acme, dana_browser):
        response = dana_browser.post(PATH, {"acting_for": acme.pk, "name": " Zephyr "})

        assert response["Location"] == PATH
        acme.refresh_from_db()
        assert acme.name == "Zephyr"
        assert AuditEvent.objects.get(action="tenant.renamed").details == {
            "before": "Acme",
            "name": "Zephyr",
        }

    @pytest.mark.parametrize("name", ["", "a\u202eb"])
    def test_refuse_a_name_nobody_can_read(self, acme, dana_browser, name):
        assert dana_browser.post(PATH, {"acting_for": acme.pk, "name": name}).status_code == 422

        acme.refresh_from_db()
        assert acme.name == "Acme"

    def test_are_read_by_everybody_and_changed_by_owners(self, acme, lee, sign_in):
        browser = sign_in(lee)

        assert b"Save name" not in browser.get(PATH).content
        assert browser.post(PATH, {"acting_for": acme.pk, "name": "X"}).status_code == 403
        acme.refresh_from_db()
        assert acme.name == "Acme"


class TestNotifications:
    def save(self, browser, tenant, **ticked):
        return browser.post("/dashboard/notifications", {"acting_for": tenant.pk, **ticked})

    def ticks(self, browser):
        form = browser.get("/dashboard/notifications").context["form"]
        return {name for name in form.fields if form[name].value()}

    @pytest.mark.parametrize(
        ("role", "ticked"),
        [
            (Role.OWNER, {"returns", "corrections", "auto_funding", "reviews", "webhooks"}),
            (Role.MEMBER, {"returns", "corrections", "auto_funding", "reviews"}),
            (Role.APPROVER, set()),
            (Role.VIEWER, set()),
        ],
    )
    def test_start_with_what_the_role_needs(self, acme, sign_in, role, ticked):
        member = make_member(acme, email="new@acme.example", role=role)

        assert self.ticks(sign_in(member)) == ticked

    def test_are_kept_for_one_person_and_tenant(self, acme, dana, dana_browser, lee, sign_in):
        self.save(dana_browser, acme, low_balance="on")

        assert self.ticks(dana_browser) == {"low_balance"}
        assert self.ticks(sign_in(lee)) == set()

    def test_changed_ones_are_a_line_of_the_audit_log(self, acme, dana, dana_browser):
        """Somebody in a stolen session could silence the mails that would tell of it."""
        chosen = {"returns": "on", "corrections": "on", "auto_funding": "on", "reviews": "on"}

        self.save(dana_browser, acme, **chosen, low_balance="on")
        self.save(dana_browser, acme, **chosen, low_balance="on")

        (line,) = AuditEvent.objects.filter(action="member.notices_chosen")
        assert (line.tenant_id, line.actor_id) == (acme.pk, dana.pk)
        assert line.subject_id == Membership.objects.get(user=dana).pk
        assert line.details == {"on": ["low_balance"], "off": ["webhooks"]}

    def test_outlive_a_change_of_role(self, acme, dana, dana_browser):
        self.save(dana_browser, acme)
        Membership.objects.filter(user=dana).update(role=Role.MEMBER)

        assert self.ticks(dana_browser) == set()

    def test_decide_who_is_mailed(self, acme, dana, dana_browser, lee, sign_in):
        self.save(dana_browser, acme)
        self.save(sign_in(lee), acme, returns="on", webhooks="on")

        for template in ("funding_returned", "webhook_disabled", "auto_funding_paused"):
            emails.queue_notice(tenant_id=acme.pk, template=template, context={}, now=NOW)

        sent = OutgoingEmail.objects.order_by("template").values_list("template", "to")
        assert list(sent) == [
            ("funding_returned", "lee@acme.example"),
            ("webhook_disabled", "lee@acme.example"),
        ]

    @pytest.mark.parametrize(
        ("role", "told"),
        [
            (Role.OWNER, True),
            (Role.APPROVER, True),
            (Role.MEMBER, False),
            (Role.VIEWER, False),
        ],
    )
    def test_never_switch_off_approvals_to_approvers(self, acme, sign_in, role, told):
        member = make_member(acme, email="new@acme.example", role=role)

        content = sign_in(member).get("/dashboard/notifications").content.decode()

        assert ('id="always_approvals" checked disabled' in content) is told

    def test_leave_closed_accounts_alone(self, acme, dana):
        dana.is_active = False
        dana.save()

        emails.queue_notice(tenant_id=acme.pk, template="funding_returned", context={}, now=NOW)

        assert not OutgoingEmail.objects.exists()
