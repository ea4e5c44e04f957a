"""Whoever comes to approve waits a day; all owners read of who gets in."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenants import actors
from tenants.actors import SYSTEM, user
from tenants.models import Membership, Mode, OutgoingEmail, Role, User
from tenants.services import accounts, emails, invitations, keys, members
from tests.builders import NOW, mails_of, make_member, make_tenant

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)
DANA, LEE, NEW = "dana@acme.example", "lee@acme.example", "new@acme.example"


@pytest.fixture
def live(db):
    return make_tenant(name="Acme Live", mode=Mode.LIVE)


@pytest.fixture
def dana(live):
    return make_member(live, email=DANA, role=Role.OWNER)


@pytest.fixture
def lee(live, dana):
    return make_member(live, email=LEE, role=Role.VIEWER)


def join(tenant, role, by=None):
    """Somebody new accepts an invitation, of our support if nobody else's."""
    actor = user(by.pk) if by else actors.staff("usr_1")
    invitations.invite(tenant_id=tenant.pk, email=NEW, role=role, actor=actor, now=NOW)
    person = User.objects.create_user(email=NEW)
    token = "x" * 43
    tenant.invitations.update(digest=invitations._digest(token))
    return invitations.accept(token=token, user=person, now=NOW)


def change(tenant, person, role, by):
    membership = Membership.objects.get(tenant=tenant, user=person)
    members.change_role(
        tenant_id=tenant.pk, membership_id=membership.pk, role=role, actor=user(by.pk), now=NOW
    )
    membership.refresh_from_db()
    return membership


def told(tenant):
    """Whom and what the mails about access tell, in the order in which they were queued."""
    rows = OutgoingEmail.objects.filter(tenant=tenant, template="access_changed").order_by("pk")
    return [(row.to, row.context["what"]) for row in rows]


class TestWaiting:
    @pytest.mark.parametrize("role", [Role.OWNER, Role.APPROVER])
    def test_who_joins_approves_a_day_later(self, live, dana, role):
        assert join(live, role, dana).approves_from == NOW + DAY

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
    def test_who_does_not_approve_has_nothing_to_wait_for(self, live, dana, role):
        assert join(live, role, dana).approves_from is None

    def test_so_does_whoever_gets_the_role(self, live, dana, lee):
        assert change(live, lee, Role.APPROVER, dana).approves_from == NOW + DAY

    def test_a_member_who_approves_later_waits_from_then(self, live, dana):
        membership = join(live, Role.VIEWER, dana)

        assert change(live, membership.user, Role.OWNER, dana).approves_from == NOW + DAY

    def test_another_approving_role_changes_nothing(self, live, dana):
        membership = join(live, Role.APPROVER, dana)
        Membership.objects.update(approves_from=NOW - DAY)

        assert change(live, membership.user, Role.OWNER, dana).approves_from == NOW - DAY

    def test_by_staff_too(self, live, dana):
        membership = accounts.create_member(
            tenant_id=live.pk,
            email=NEW,
            role=Role.OWNER,
            password=None,
            actor=actors.staff(dana.pk),
            now=NOW,
        )

        assert membership.approves_from == NOW + DAY

    def test_its_length_is_a_setting(self, live, dana, settings):
        settings.NEW_APPROVER_HOURS = 48

        assert join(live, Role.OWNER, dana).approves_from == NOW + 2 * DAY

    def test_not_by_the_command_line(self, live, dana):
        assert make_member(live, email=NEW).memberships.get().approves_from is None

    def test_not_in_the_sandbox(self, acme):
        owner = make_member(acme, email=DANA)

        assert join(acme, Role.OWNER, owner).approves_from is None

    def test_not_where_nobody_else_approves(self, live, lee):
        Membership.objects.filter(user__email=DANA).delete()

        assert join(live, Role.OWNER).approves_from is None


class TestMails:
    def test_of_a_new_member_go_to_every_owner(self, live, dana, lee):
        make_member(live, email="owen@acme.example", role=Role.OWNER)

        join(live, Role.APPROVER, dana)

        what = f"{NEW} joined as Approver"
        assert told(live) == [(DANA, what), ("owen@acme.example", what)]
        context = OutgoingEmail.objects.filter(template="access_changed")[0].context
        assert (context["by"], context["approves_from"]) == (DANA, (NOW + DAY).isoformat())

    def test_of_a_new_owner_go_to_the_new_one_too(self, live, dana):
        join(live, Role.OWNER, dana)

        assert [to for to, _what in told(live)] == [DANA, NEW]

    def test_of_a_role_go_to_who_owned_before(self, live, dana, lee):
        change(live, lee, Role.OWNER, dana)
        change(live, dana, Role.VIEWER, lee)

        assert told(live) == [
            (DANA, f"{LEE} is now Owner"),
            (DANA, f"{DANA} is now Viewer"),
            (LEE, f"{DANA} is now Viewer"),
        ]

    def test_of_a_key_go_to_every_owner_and_do_not_tell_it(self, live, dana, lee):
        issued = keys.issue(
            tenant=live, name="server", scopes=["balance:read"], actor=user(dana.pk), now=NOW
        )
        new = keys.rotate(key=issued.key, overlap=DAY, actor=user(dana.pk), now=NOW)

        assert told(live) == [
            (DANA, "API key server was created"),
            (DANA, "API key server was rotated"),
        ]
        contexts = str(list(OutgoingEmail.objects.values("context")))
        assert issued.text not in contexts
        assert new.text not in contexts
        assert OutgoingEmail.objects.all()[0].context["facts"] == [
            {"label": "Begins with", "value": issued.key.prefix},
            {"label": "Permissions", "value": "balance:read"},
        ]

    def test_of_a_key_that_our_support_made(self, live, dana):
        keys.issue(tenant=live, name="server", actor=actors.staff("usr_1"), now=NOW)

        assert told(live) == [(DANA, "API key server was created")]
        assert OutgoingEmail.objects.get().context["by"] == "Support"

    def test_a_lone_owner_is_told_too(self, live, dana):
        keys.issue(tenant=live, name="server", actor=user(dana.pk), now=NOW)

        assert mails_of(live, "access_changed") == [DANA]

    def test_what_the_command_line_does_is_in_the_audit_log_alone(self, live, dana, lee):
        keys.issue(tenant=live, name="server", actor=SYSTEM, now=NOW)

        assert not OutgoingEmail.objects.exists()

    def test_are_sent(self, live, dana, mailoutbox):
        join(live, Role.OWNER, dana)
        emails.send_due(now=NOW)

        (message,) = [each for each in mailoutbox if each.subject.startswith("Acme Live:")][:1]
        assert message.subject == f"Acme Live: {NEW} joined as Owner"
        assert "Approves from Nov 21, 2026, 10:00 AM EST" in message.body
        assert f"By            {DANA}" in message.body
