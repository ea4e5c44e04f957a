"""Changing and ending memberships."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP

from common.errors import NotFound
from tenants import actors
from tenants.errors import LastOwner, NotAnOwner, OwnSecondFactorMissing
from tenants.models import AuditEvent, Membership, Role, Tenant, User
from tenants.services import members
from tests.builders import NOW, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)


def of(user):
    return Membership.objects.get(user=user)


def change(tenant, user, role):
    return members.change_role(
        tenant_id=tenant.pk,
        membership_id=of(user).pk,
        role=role,
        actor=actors.staff("usr_1"),
        now=NOW,
    )


def remove(tenant, user):
    return members.remove(
        tenant_id=tenant.pk, membership_id=of(user).pk, actor=actors.staff("usr_1"), now=NOW
    )


class TestRole:
    def test_changes_and_is_audited(self, acme, dana):
        lee = make_member(acme, email="lee@acme.example", role=Role.VIEWER)

        change(acme, lee, Role.APPROVER)

        assert of(lee).role == Role.APPROVER
        event = AuditEvent.objects.filter(action="member.role_changed").latest("id")
        assert event.details == {
            "email": "lee@acme.example",
            "role": "approver",
            "before": "viewer",
        }

    def test_of_the_last_owner_stays(self, acme, dana):
        with pytest.raises(LastOwner):
            change(acme, dana, Role.MEMBER)

        assert of(dana).role == Role.OWNER

    def test_of_an_owner_changes_when_another_is_left(self, acme, dana):
        make_member(acme, email="lee@acme.example", role=Role.OWNER)

        change(acme, dana, Role.MEMBER)

        assert of(dana).role == Role.MEMBER

    def test_an_owner_whose_account_is_closed_does_not_count(self, acme, dana):
        make_member(acme, email="lee@acme.example", role=Role.OWNER)
        User.objects.filter(email="lee@acme.example").update(is_active=False)

        with pytest.raises(LastOwner):
            change(acme, dana, Role.MEMBER)

    def test_is_not_changed_by_the_rival(self, acme, rival, dana):
        with pytest.raises(NotFound):
            change(rival, dana, Role.VIEWER)


class TestLeaving:
    def test_ends_the_membership_and_keeps_the_account(self, acme, dana):
        lee = make_member(acme, email="lee@acme.example", role=Role.MEMBER)

        remove(acme, lee)

        assert not lee.memberships.exists()
        assert User.objects.filter(pk=lee.pk, is_active=True).exists()
        assert AuditEvent.objects.get(action="member.removed").subject_id == lee.pk

    def test_is_not_for_the_last_owner(self, acme, dana):
        with pytest.raises(LastOwner):
            remove(acme, dana)

        assert of(dana).tenant_id == acme.pk


class TestSecondFactorRule:
    def require(self, tenant, user, required=True):
        members.require_second_factor(
            tenant_id=tenant.pk, required=required, actor=actors.user(user.pk), now=NOW
        )
        tenant.refresh_from_db()

    def test_needs_an_owner_who_has_one(self, acme, dana):
        with pytest.raises(OwnSecondFactorMissing):
            self.require(acme, dana)

        acme.refresh_from_db()
        assert not acme.requires_second_factor

    @pytest.mark.parametrize("required", [True, False])
    def test_is_not_changed_by_who_is_no_owner_any_more(self, acme, dana, required):
        lee = make_member(acme, email="lee@acme.example", role=Role.OWNER)
        TOTP.activate(lee, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
        Tenant.objects.filter(pk=acme.pk).update(requires_second_factor=not required)
        remove(acme, lee)

        with pytest.raises(NotAnOwner):
            self.require(acme, lee, required)

        acme.refresh_from_db()
        assert acme.requires_second_factor is not required

    def test_is_switched_on_and_off_and_audited_once_each(self, acme, dana):
        TOTP.activate(dana, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")

        self.require(acme, dana)
        self.require(acme, dana)
        assert acme.requires_second_factor
        self.require(acme, dana, required=False)
        assert not acme.requires_second_factor

        events = AuditEvent.objects.filter(action__startswith="second_factor").order_by("id")
        assert [event.action for event in events] == [
            "second_factor.required",
            "second_factor.made_optional",
        ]
