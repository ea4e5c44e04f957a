"""What ends with an owner who leaves: invitations that they sent, keys, mails (decision 0184)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail

from tenants import actors, persons
from tenants.actors import SYSTEM, user
from tenants.errors import InvitationClosed, NotAnOwner
from tenants.models import (
    ApiKey,
    AuditEvent,
    Invitation,
    Membership,
    OutgoingEmail,
    Role,
    Tenant,
    User,
)
from tenants.services import accounts, closing, emails, invitations, keys, members
from tests.builders import NOW, make_member, make_staff

pytestmark = pytest.mark.django_db

DANA, LEE, SECOND = "dana@acme.example", "lee@acme.example", "lee@second.example"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def dana(acme):
    return make_member(acme, email=DANA, role=Role.OWNER)


@pytest.fixture
def lee(acme, dana):
    return make_member(acme, email=LEE, role=Role.OWNER)


def leave(how, tenant, person, by, *, take_over=()):
    ids = {"tenant_id": tenant.pk, "membership_id": person.memberships.get(tenant=tenant).pk}
    if how == "removed":
        members.remove(**ids, take_over=take_over, actor=by, now=NOW)
    elif how == "closed":
        closing.close(user_id=person.pk, actor=by, now=NOW)
    elif how == "demoted by the command line":
        accounts.create_member(
            tenant_id=tenant.pk,
            email=person.email,
            role=Role.VIEWER,
            password=None,
            actor=by,
            now=NOW,
        )
    else:
        members.change_role(**ids, role=Role.MEMBER, take_over=take_over, actor=by, now=NOW)


def invite(tenant, by, email=SECOND, now=NOW):
    return invitations.invite(tenant_id=tenant.pk, email=email, role=Role.OWNER, actor=by, now=now)


def secret():
    emails.send_due(now=NOW)
    (link,) = [each for each in mail.outbox if "/join/" in each.body][-1:]
    return str(link.body).split("/join/")[1].split("/")[0]


def is_open(invitation):
    return Invitation.objects.filter(pk=invitation.pk, revoked_at=None).exists()


@pytest.fixture(params=["removed", "demoted", "closed", "demoted by the command line"])
def how(request):
    return request.param


@pytest.fixture
def by(how, dana):
    """Who ends it: our support closes accounts."""
    if how == "demoted by the command line":
        return SYSTEM
    staff = how == "closed"
    return actors.staff(make_staff("sam@ballast.example").pk) if staff else user(dana.pk)


class TestInvitations:
    """Found: a removed owner came back by an invitation to their second address."""

    def test_that_the_person_sent_are_revoked(self, acme, lee, how, by):
        invite(acme, user(lee.pk))
        token = secret()

        leave(how, acme, lee, by)

        with pytest.raises(InvitationClosed):
            invitations.join(token=token, name="Lee", password="correct horse", now=NOW)
        assert not User.objects.filter(email=SECOND).exists()
        line = AuditEvent.objects.get(action="invitation.revoked")
        assert (line.actor_id, line.details["email"]) == (by.id, SECOND)

    def test_of_others_stay(self, acme, rival, dana, lee, how, by):
        make_member(rival, email=LEE, role=Role.OWNER)
        kept = [
            invite(acme, user(dana.pk)),
            invite(acme, SYSTEM, "third@acme.example"),
        ]
        elsewhere = invite(rival, user(lee.pk), "new@rival.example")

        leave(how, acme, lee, by)

        assert all(is_open(each) for each in kept)
        assert is_open(elsewhere) == (how != "closed")

    def test_for_the_address_are_revoked(self, acme, dana, lee, how, by):
        """From before the person had this address."""
        own = invite(acme, user(dana.pk))
        User.objects.filter(pk=lee.pk).update(email=SECOND)

        leave(how, acme, User.objects.get(pk=lee.pk), by)

        assert not is_open(own)

    def test_that_another_owner_sent_again_are_theirs(self, acme, dana, lee, how, by):
        sent = invite(acme, user(lee.pk))
        invitations.resend(
            tenant_id=acme.pk, invitation_id=sent.pk, actor=user(dana.pk), now=NOW + 2 * MINUTE
        )

        leave(how, acme, lee, by)

        assert is_open(sent)

    def test_are_not_sent_by_who_is_no_owner_any_more(self, acme, dana, lee):
        sent = invite(acme, user(dana.pk))
        leave("demoted", acme, lee, user(dana.pk))

        with pytest.raises(NotAnOwner):
            invite(acme, user(lee.pk), "third@acme.example")
        with pytest.raises(NotAnOwner):
            invitations.resend(
                tenant_id=acme.pk, invitation_id=sent.pk, actor=user(lee.pk), now=NOW + 2 * MINUTE
            )


def test_who_is_no_owner_any_more_removes_nobody(acme, dana, lee):
    """Of two owners who remove each other beside a third, the slower one is none by then."""
    make_member(acme, email="owen@acme.example", role=Role.OWNER)
    leave("removed", acme, lee, user(dana.pk))

    for act in ("removed", "demoted"):
        with pytest.raises(NotAnOwner):
            leave(act, acme, dana, user(lee.pk))
    assert Membership.objects.filter(tenant=acme, role=Role.OWNER).count() == 2


class TestKeys:
    def test_are_revoked(self, acme, dana, lee, how, by):
        left = keys.issue(tenant=acme, name="server", actor=user(lee.pk), now=NOW).key
        other = keys.issue(tenant=acme, name="other", actor=user(dana.pk), now=NOW).key

        leave(how, acme, lee, by)

        usable = ApiKey.objects.filter(revoked_at=None)
        assert list(usable.values_list("pk", flat=True)) == [other.pk]
        assert ApiKey.objects.get(pk=left.pk).revoked_at == NOW
        told = OutgoingEmail.objects.filter(template="access_changed", to=DANA).latest("pk")
        is_told = {"label": "Keys revoked", "value": "1"} in told.context["facts"]
        assert is_told == (by != SYSTEM)

    def test_are_taken_over_at_a_demotion(self, acme, dana, lee):
        kept = keys.issue(tenant=acme, name="server", actor=user(lee.pk), now=NOW).key

        leave("demoted", acme, lee, user(dana.pk), take_over=[kept.pk])

        assert ApiKey.objects.get().revoked_at is None
        assert persons.behind(actors.api_key(kept.pk)) == dana.pk

    def test_of_who_becomes_an_owner_stay(self, acme, dana):
        vic = make_member(acme, email="vic@acme.example", role=Role.OWNER)
        key = keys.issue(tenant=acme, name="server", actor=user(vic.pk), now=NOW).key
        Membership.objects.filter(user=vic).update(role=Role.MEMBER)  # as in an older release

        members.change_role(
            tenant_id=acme.pk,
            membership_id=vic.memberships.get().pk,
            role=Role.OWNER,
            actor=user(dana.pk),
            now=NOW,
        )

        assert ApiKey.objects.get(pk=key.pk).revoked_at is None


class TestMails:
    def test_of_a_removal_say_so_to_who_left_and_tell_no_more(self, acme, dana, lee):
        leave("removed", acme, lee, user(dana.pk))

        rows = OutgoingEmail.objects.order_by("pk").values_list("to", "template")
        assert list(rows) == [(DANA, "access_changed"), (LEE, "membership_ended")]
        emails.send_due(now=NOW)
        (own,) = [each for each in mail.outbox if each.to == [LEE]]
        assert own.subject == "You are no longer on the team of Acme"
        assert DANA not in own.body

    @pytest.mark.parametrize("how", ["removed", "closed"], indirect=True)
    def test_that_wait_do_not_reach_who_left(self, acme, dana, lee, how, by):
        keys.issue(tenant=acme, name="server", actor=user(dana.pk), now=NOW)

        leave(how, acme, lee, by)
        emails.send_due(now=NOW)

        kept = OutgoingEmail.objects.get(template="access_changed", to=LEE)
        assert (kept.sent_at, kept.last_error) == (None, emails.LEFT)
        subjects = [each.subject for each in mail.outbox if each.to == [LEE]]
        assert len(subjects) == 1
        assert [each.to for each in mail.outbox if "server" in each.subject] == [[DANA]]

    @pytest.mark.parametrize("moves", ["before", "after"])
    def test_that_wait_do_not_reach_a_former_address(self, acme, dana, lee, moves):
        """Found: who was removed and got another address had the tenant's mail at the old one."""
        keys.issue(tenant=acme, name="server", actor=user(dana.pk), now=NOW)
        steps = [
            lambda: accounts.change_address(
                user_id=lee.pk, email="lee@elsewhere.example", actor=SYSTEM, now=NOW
            ),
            lambda: leave("removed", acme, lee, user(dana.pk)),
        ]
        for step in steps if moves == "before" else reversed(steps):
            step()

        emails.send_due(now=NOW)

        kept = OutgoingEmail.objects.get(template="access_changed", to=LEE)
        assert (kept.sent_at, kept.last_error) == (None, emails.LEFT)

    def test_reach_who_is_in_the_team_again(self, acme, dana, lee):
        leave("removed", acme, lee, user(dana.pk))
        make_member(acme, email=LEE, role=Role.OWNER)
        keys.issue(tenant=acme, name="server", actor=user(dana.pk), now=NOW)

        emails.send_due(now=NOW)

        assert OutgoingEmail.objects.get(template="access_changed", to=LEE).sent_at == NOW

    def test_reach_who_never_was_in_the_team(self, acme, dana):
        """An approver whom the settings of auto-funding name."""
        emails.queue(
            tenant_id=acme.pk,
            to="cfo@elsewhere.example",
            template="safeguard_changed",
            context={
                "tenant_name": "Acme",
                "changed_by": DANA,
                "changed_at": "2026-11-20T15:00:00Z",
                "changes": [],
                "approver_email": "cfo@elsewhere.example",
            },
            now=NOW,
        )

        emails.send_due(now=NOW)

        assert OutgoingEmail.objects.get().sent_at == NOW


def test_a_change_of_the_second_factor_rule_is_mailed(acme, dana):
    """To who is alone, too."""
    Tenant.objects.filter(pk=acme.pk).update(requires_second_factor=True)

    for _ in range(2):
        members.require_second_factor(
            tenant_id=acme.pk, required=False, actor=user(dana.pk), now=NOW
        )

    told = OutgoingEmail.objects.get(template="access_changed")
    assert (told.to, told.context["what"]) == (DANA, "A second factor is no longer required")
