"""Nobody approves who came to it a short time ago; an owner who is alone is not stopped."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail

from approvals import answers
from approvals.errors import NewApprover
from approvals.policies import Approver
from networks.sandbox.bank import SandboxBank
from payments.models import PaymentConfirmation
from payments.services import approval_settings, approvals
from tenants.actors import SYSTEM, api_key, user
from tenants.models import Membership, Mode, Role
from tenants.services import emails, keys, members
from tests.builders import NOW, make_member, make_tenant
from tests.payments.asking import CHECKER, OWNER, approval_of, approve_signed_in, order, outcome
from tests.payments.builders import fund

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=24)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def live(db, connect):
    """Payments above $10.00 need a second person; $100.00 is there."""
    connect(SandboxBank(), modes=("sandbox", "live"))
    tenant = make_tenant(mode=Mode.LIVE)
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(tenant, 10_000)
    return tenant


@pytest.fixture
def owner(live):
    return make_member(live, email=OWNER, role=Role.OWNER)


@pytest.fixture
def checker(live, owner):
    """The owner's second address, which became an approver now."""
    person = make_member(live, email=CHECKER, role=Role.VIEWER)
    members.change_role(
        tenant_id=live.pk,
        membership_id=person.memberships.get().pk,
        role=Role.APPROVER,
        actor=user(owner.pk),
        now=NOW,
    )
    return person


def _html_of(message):
    return message.alternatives[0][0]


class TestNewApprover:
    """Found: an owner invited their own second address and had it agree at once."""

    def test_approves_no_payment_for_a_day(self, live, owner, checker):
        payment = order(live, actor=user(owner.pk))

        with pytest.raises(NewApprover):
            approve_signed_in(payment, checker, now=NOW + DAY - A_MOMENT)
        assert outcome(payment) == ("open", "", "created", "")

        approve_signed_in(payment, checker, now=NOW + DAY)
        assert outcome(payment) == ("approved", CHECKER, "created", "")

    def test_is_told_so_by_the_mail(self, live, owner, checker):
        make_member(live, email="boss@acme.example", role=Role.OWNER)
        order(live, actor=user(owner.pk))

        emails.send_due(now=NOW)

        said = (
            "You became an approver recently. You can decline right away, and approve"
            " from Nov 21, 2026, 10:00 AM EST."
        )
        told = {
            each.to[0]: (said in " ".join(each.body.split()), _html_of(each))
            for each in mail.outbox
            if each.subject.startswith("Approve")
        }
        assert told[CHECKER][0]
        assert "Nov 21, 2026, 10:00 AM EST" in told[CHECKER][1]
        assert not told["boss@acme.example"][0]

    def test_may_decline_at_once(self, live, owner, checker):
        payment = order(live, actor=user(owner.pk))

        answers.decline_signed_in(
            tenant_id=live.pk,
            approval_id=approval_of(payment).pk,
            by=Approver(email=CHECKER, actor=user(checker.pk)),
            reason="no",
            now=NOW,
        )

        assert outcome(payment)[:2] == ("declined", CHECKER)

    def test_does_not_agree_to_a_looser_limit(self, live, owner, checker):
        approval_settings.set_threshold(
            tenant_id=live.pk, threshold=None, actor=user(owner.pk), now=NOW
        )

        with pytest.raises(NewApprover):
            approval_settings.agree(tenant_id=live.pk, actor=user(checker.pk), now=NOW)

        assert approvals.approval_threshold(tenant_id=live.pk, mode=live.mode, now=NOW) == 1_000


class TestLoneOwner:
    """There is nobody to ask, so the payment would wait for ever."""

    @pytest.fixture(params=["person", "key"])
    def actor(self, request, live, owner):
        if request.param == "person":
            return user(owner.pk)
        issued = keys.issue(tenant=live, name="server", actor=user(owner.pk), now=NOW)
        return api_key(issued.key.pk)

    def test_pays_above_the_limit(self, live, actor):
        assert not order(live, actor=actor).requires_confirmation
        assert not PaymentConfirmation.objects.exists()

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
    def test_is_alone_beside_people_who_approve_nothing(self, live, actor, role):
        make_member(live, email="lee@acme.example", role=role)

        assert not order(live, actor=actor).requires_confirmation

    def test_is_not_alone_beside_an_approver(self, live, actor, checker):
        assert order(live, actor=actor).requires_confirmation

    def test_is_not_alone_for_a_day_after_removing_the_others(self, live, owner, actor, checker):
        members.remove(
            tenant_id=live.pk,
            membership_id=checker.memberships.get().pk,
            actor=user(owner.pk),
            now=NOW,
        )

        soon = NOW + DAY - A_MOMENT
        assert order(live, actor=actor, now=soon).requires_confirmation
        assert not order(live, actor=actor, now=NOW + DAY).requires_confirmation

    def test_asks_about_what_others_pay(self, live, owner):
        lee = make_member(live, email="lee@acme.example", role=Role.MEMBER)

        payment = order(live, actor=user(lee.pk))

        assert approval_of(payment).approvers == [OWNER]

    def test_is_asked_about_a_key_of_the_command_line(self, live, owner):
        issued = keys.issue(tenant=live, name="server", actor=SYSTEM, now=NOW)

        payment = order(live, actor=api_key(issued.key.pk))

        assert approval_of(payment).approvers == [OWNER]


def test_a_person_who_owns_another_tenant_alone_is_not_exempt(live, owner, rival):
    Membership.objects.filter(user=owner).update(tenant=rival)

    assert order(live, actor=user(owner.pk)).requires_confirmation
