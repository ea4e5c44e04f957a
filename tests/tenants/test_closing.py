"""Accounts that our support closes and opens again; people who come back by their mailbox.

Found: one member of staff closed the accounts of the other approvers, and payments above the limit
left without a question; and a mailbox alone approved a payment within seconds, by a new password.
"""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.test import Client
from django.urls import reverse

from approvals.errors import NewApprover
from common.clock import utc_now
from payments.services import approval_settings, approvals
from tenants import actors
from tenants.actors import SYSTEM
from tenants.errors import AccessRefused
from tenants.models import AuditEvent, Membership, Mode, OutgoingEmail, Role, User
from tenants.services import closing, emails, second_factors
from tests.builders import NOW, browser_of, make_member, make_staff, make_tenant

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)
A_MOMENT = timedelta(microseconds=1)
DANA, LEE = "dana@acme.example", "lee@acme.example"
NEW_PASSWORD = "violet kettle nineteen"


@pytest.fixture
def live(db):
    return make_tenant(name="Acme Live", mode=Mode.LIVE)


@pytest.fixture
def dana(live):
    return make_member(live, email=DANA, role=Role.OWNER)


@pytest.fixture
def lee(live, dana):
    return make_member(live, email=LEE, role=Role.APPROVER)


@pytest.fixture
def support(db):
    return make_staff("staff@ballast.example")


def test_who_lost_a_factor_by_our_support_approves_after_a_day(live, dana, lee, support):
    """The mailbox gave a new password, and "I lost my phone" the rest."""
    TOTP.activate(lee, "JBSWY3DPEHPK3PXP")
    closing.password_reset(user_id=lee.pk, now=NOW)
    assert Membership.objects.get(user=lee).approves_from is None

    by_command = second_factors.reset(user=lee, reason="lost phone", actor=SYSTEM, now=NOW)

    assert by_command == 1
    assert Membership.objects.get(user=lee).approves_from == NOW + DAY
    assert (DANA, f"Our support removed the second factor of {LEE}") in mailed()


def mailed():
    rows = OutgoingEmail.objects.order_by("pk")
    return [(row.to, row.context.get("what")) for row in rows]


def threshold(tenant, person, at):
    return approvals.threshold_for(
        tenant_id=tenant.pk, mode=tenant.mode, actor=actors.user(person.pk), now=at
    )


class TestClosing:
    def test_ends_sessions_and_is_mailed_and_audited(self, live, lee, support):
        browser = browser_of(lee)
        doer = actors.staff(support.pk)

        assert closing.close(user_id=lee.pk, actor=doer, now=NOW, note="A stranger has it")
        assert not closing.close(user_id=lee.pk, actor=doer, now=NOW, note="Again")

        assert browser.get("/dashboard/").status_code == 302
        line = AuditEvent.objects.get(action="account.closed_by_support")
        assert (line.tenant_id, line.subject_id) == (live.pk, lee.pk)
        assert line.staff_note == "A stranger has it"
        assert line.details == {"role": Membership.objects.get(user=lee).role}
        assert mailed() == [
            (DANA, f"The account of {LEE} was closed"),
            (LEE, "Our support closed your account"),
        ]

    def test_makes_nobody_alone_for_a_day(self, live, dana, lee, support, settings):
        settings.PAYMENT_APPROVAL_ABOVE = 1_000
        closing.close(user_id=lee.pk, actor=actors.staff(support.pk), now=NOW)

        assert threshold(live, dana, NOW + DAY - A_MOMENT) == 1_000
        assert approval_settings.would_wait(live, actors.user(dana.pk), NOW)

    def test_of_a_colleague_is_refused(self, support):
        ben = make_staff("ben@ballast.example")

        with pytest.raises(AccessRefused):
            closing.close(user_id=ben.pk, actor=actors.staff(support.pk), now=NOW)

        assert User.objects.get(pk=ben.pk).is_active
        assert not AuditEvent.objects.filter(action__startswith="account.").exists()

    def test_takes_a_reason_at_the_desk(self, lee, support):
        path = f"/admin/tenants/user/{lee.pk}/"
        desk = browser_of(support)

        desk.post(f"{path}change/", {"name": "Lee"})
        desk.post(f"{path}close/", {"reason": ""})
        assert User.objects.get(pk=lee.pk).is_active

        desk.post(f"{path}close/", {"reason": "A stranger has it"})
        assert not User.objects.get(pk=lee.pk).is_active

        desk.post(f"{path}reopen/", {"reason": "It was a mistake"})
        assert User.objects.get(pk=lee.pk).is_active


class TestReopening:
    def test_lets_approve_after_a_day(self, live, lee, support):
        doer = actors.staff(support.pk)
        closing.close(user_id=lee.pk, actor=doer, now=NOW)
        before = len(mailed())

        assert closing.reopen(user_id=lee.pk, actor=doer, now=NOW + DAY)
        assert not closing.reopen(user_id=lee.pk, actor=doer, now=NOW + DAY)

        assert Membership.objects.get(user=lee).approves_from == NOW + 2 * DAY
        assert mailed()[before:] == [
            (DANA, f"The account of {LEE} was opened again"),
            (LEE, "Our support reopened your account"),
        ]


class TestPasswordByEmail:
    """`closing.password_reset`, by the link of the e-mail."""

    def reset(self, email, browser=None):
        browser = browser or Client()
        browser.post(reverse("account_reset_password"), {"email": email})
        emails.send_due(now=utc_now())
        text = str(mail.outbox[-1].body)
        link = re.search(r"https?://[^/]+(/accounts/password/reset/key/\S+/)", text)
        assert link
        page = browser.get(link[1], follow=True)
        path = page.redirect_chain[-1][0]
        browser.post(path, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD})
        return User.objects.get(email=email)

    def test_lets_nobody_approve_for_a_day(self, live, dana, lee):
        approval_settings.set_threshold(tenant_id=live.pk, threshold=1_000, actor=SYSTEM, now=NOW)

        person = self.reset(LEE)

        assert person.check_password(NEW_PASSWORD)
        begins = Membership.objects.get(user=lee).approves_from
        (line,) = AuditEvent.objects.filter(action="password.reset")
        assert begins
        assert begins - line.created_at > DAY - timedelta(minutes=1)
        soon = line.created_at + timedelta(hours=23)
        approval_settings.set_threshold(
            tenant_id=live.pk, threshold=None, actor=actors.user(dana.pk), now=soon
        )
        with pytest.raises(NewApprover):
            approval_settings.agree(tenant_id=live.pk, actor=actors.user(lee.pk), now=soon)
        assert (DANA, f"{LEE} chose a new password by e-mail") in mailed()

    @pytest.mark.parametrize("role", [Role.OWNER, Role.APPROVER])
    def test_is_told_to_its_person_once(self, live, dana, role):
        """Found: three mails about one new password."""
        kai = make_member(live, email="kai@acme.example", role=role)
        browser = Client()

        self.reset(kai.email, browser)
        browser.post(reverse("account_login"), {"login": kai.email, "password": NEW_PASSWORD})

        assert AuditEvent.objects.filter(action="sign_in.succeeded", actor_id=kai.pk).exists()
        told = OutgoingEmail.objects.filter(to=kai.email).exclude(template="password_reset")
        assert [mail.context["what"] for mail in told] == ["Your password was reset"]
        begins = Membership.objects.get(user=kai).approves_from
        assert begins
        assert told[0].context["approves_from"] == begins.isoformat()
        assert (DANA, f"{kai.email} chose a new password by e-mail") in mailed()

    def test_says_nothing_of_approving_to_who_never_does(self, live, dana):
        kai = make_member(live, email="kai@acme.example", role=Role.VIEWER)

        self.reset(kai.email)

        told = OutgoingEmail.objects.get(to=kai.email, template="account_changed")
        assert told.context["approves_from"] == ""

    def test_is_no_matter_for_who_has_a_second_factor(self, live, lee):
        Authenticator.objects.create(user=lee, type=Authenticator.Type.TOTP, data={})

        self.reset(LEE)

        assert Membership.objects.get(user=lee).approves_from is None

    def test_lets_an_owner_who_is_alone_approve_after_a_day(self, live, dana):
        """Found: a stolen mailbox paid and approved at once, where nobody else approves."""
        self.reset(DANA)

        begins = Membership.objects.get(user=dana).approves_from
        assert begins
        assert begins - utc_now() > DAY - timedelta(minutes=1)
