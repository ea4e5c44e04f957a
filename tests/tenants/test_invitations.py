"""Invitations: for one address, once, within seven days."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail

from common.errors import NotFound
from tenants import actors
from tenants.errors import (
    AccountExists,
    AlreadyMember,
    InvitationClosed,
    InvitedSomebodyElse,
    TooManyInvitations,
)
from tenants.models import AuditEvent, Invitation, Membership, OutgoingEmail, Role, User
from tenants.services import emails, invitations
from tests.builders import NOW, make_member, stored_invitation

pytestmark = pytest.mark.django_db

WEEK = timedelta(days=7)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)


def invite(tenant, email="New@Acme.example", role=Role.MEMBER, actor=actors.SYSTEM, now=NOW):
    return invitations.invite(tenant_id=tenant.pk, email=email, role=role, actor=actor, now=now)


def token(now=NOW):
    """Of the newest mail."""
    emails.send_due(now=now)
    return str(mail.outbox[-1].body).split("/join/")[1].split("/")[0]


def join(secret, now=NOW):
    return invitations.join(token=secret, name="Nell", password="correct horse", now=now)


class TestInviting:
    def test_mails_a_link_and_keeps_only_its_digest(self, acme, dana):
        invite(acme, actor=actors.user(dana.pk))

        secret = token()

        (message,) = mail.outbox
        assert message.to == ["new@acme.example"]
        assert message.subject == "dana@acme.example invites you to Acme on Ballast"
        assert secret not in str(stored_invitation())
        assert secret not in str(OutgoingEmail.objects.values().get())

    def test_is_audited(self, acme, dana):
        invitation = invite(acme, actor=actors.user(dana.pk))

        event = AuditEvent.objects.get(action="invitation.sent")
        assert (event.actor_id, event.subject_id) == (dana.pk, invitation.pk)
        assert event.details == {"email": "new@acme.example", "role": "member"}

    def test_a_member_is_refused(self, acme, dana):
        with pytest.raises(AlreadyMember):
            invite(acme, email="DANA@acme.example")

        assert not OutgoingEmail.objects.exists()

    def test_somebody_with_an_account_elsewhere_looks_like_anybody(self, acme, rival):
        make_member(rival, email="new@acme.example", role=Role.OWNER)

        invite(acme)

        assert token()

    def test_twice_at_once_sends_one_mail(self, acme):
        first, second = invite(acme), invite(acme)

        assert first.pk == second.pk
        assert OutgoingEmail.objects.count() == 1

    def test_again_with_another_role_changes_it(self, acme):
        invite(acme)

        again = invite(acme, role=Role.VIEWER, now=NOW + MINUTE)

        assert (again.role, Invitation.objects.count()) == ("viewer", 1)
        assert join(token(NOW + MINUTE), NOW + MINUTE).memberships.get().role == Role.VIEWER

    def test_ends_at_a_hundred_open_ones(self, acme):
        for number in range(100):
            invite(acme, email=f"{number}@acme.example")

        with pytest.raises(TooManyInvitations):
            invite(acme)

    def test_of_one_address_again_and_again_ends_for_the_day(self, acme, rival):
        for _ in range(invitations.MAILS_A_DAY_MAX):
            asked = invite(acme)
            invitations.revoke(
                tenant_id=acme.pk, invitation_id=asked.pk, actor=actors.SYSTEM, now=NOW
            )

        with pytest.raises(TooManyInvitations):
            invite(acme)

        assert OutgoingEmail.objects.count() == invitations.MAILS_A_DAY_MAX
        invite(rival)
        invite(acme, now=NOW + timedelta(days=1))


class TestTheLink:
    def test_makes_the_account_and_the_membership(self, acme):
        invite(acme, role=Role.APPROVER)

        user = join(token())

        assert (user.email, user.name) == ("new@acme.example", "Nell")
        assert user.check_password("correct horse")
        assert Membership.objects.get(user=user, tenant=acme).role == Role.APPROVER
        assert AuditEvent.objects.get(action="invitation.accepted").actor_id == user.pk

    def test_works_once(self, acme):
        invite(acme)
        secret = token()
        join(secret)

        with pytest.raises(InvitationClosed):
            join(secret)

        assert User.objects.count() == 1

    def test_ends_after_seven_days(self, acme):
        invite(acme)
        secret = token()
        invitations.find(token=secret, now=NOW + WEEK - timedelta(seconds=1))

        with pytest.raises(InvitationClosed):
            invitations.find(token=secret, now=NOW + WEEK)

    def test_ends_when_a_newer_one_is_sent(self, acme):
        invitation = invite(acme)
        old = token()
        later = NOW + timedelta(days=6)
        invitations.resend(
            tenant_id=acme.pk, invitation_id=invitation.pk, actor=actors.SYSTEM, now=later
        )
        new = token(later)

        with pytest.raises(InvitationClosed):
            invitations.find(token=old, now=later)
        assert invitations.find(token=new, now=later + timedelta(days=6)).pk == invitation.pk

    def test_ends_when_it_is_revoked_even_before_it_is_sent(self, acme):
        invitation = invite(acme)

        invitations.revoke(
            tenant_id=acme.pk, invitation_id=invitation.pk, actor=actors.SYSTEM, now=NOW
        )
        emails.send_due(now=NOW)

        assert mail.outbox == []
        with pytest.raises(NotFound):
            invitations.resend(
                tenant_id=acme.pk, invitation_id=invitation.pk, actor=actors.SYSTEM, now=NOW
            )

    @pytest.mark.parametrize("nonsense", ["", "x", "a" * 43, "a" * 42 + "/"])
    def test_that_was_never_made_opens_nothing(self, db, nonsense):
        with pytest.raises(InvitationClosed):
            invitations.find(token=nonsense, now=NOW)

    def test_is_not_used_by_the_rival(self, acme, rival):
        invitation = invite(acme)

        for act in (invitations.resend, invitations.revoke):
            with pytest.raises(NotFound):
                act(
                    tenant_id=rival.pk,
                    invitation_id=invitation.pk,
                    actor=actors.SYSTEM,
                    now=NOW,
                )


class TestSomebodyWithAnAccount:
    def test_joins_with_it(self, acme, rival):
        nell = make_member(rival, email="new@acme.example", role=Role.OWNER)
        invite(acme, role=Role.VIEWER)

        membership = invitations.accept(token=token(), user=nell, now=NOW)

        assert (membership.tenant_id, membership.role) == (acme.pk, "viewer")
        assert nell.memberships.count() == 2

    def test_gets_no_second_account(self, acme, rival):
        make_member(rival, email="new@acme.example", role=Role.OWNER)
        invite(acme)

        with pytest.raises(AccountExists):
            join(token())

    def test_cannot_use_what_is_for_another(self, acme, rival):
        ravi = make_member(rival, email="ravi@rival.example", role=Role.OWNER)
        invite(acme)

        with pytest.raises(InvitedSomebodyElse):
            invitations.accept(token=token(), user=ravi, now=NOW)

        assert not Membership.objects.filter(tenant=acme).exists()

    def test_who_became_a_member_meanwhile_keeps_the_role(self, acme):
        invite(acme, role=Role.VIEWER)
        nell = make_member(acme, email="new@acme.example", role=Role.OWNER)

        assert invitations.accept(token=token(), user=nell, now=NOW).role == Role.OWNER
