from __future__ import annotations

import pytest
import structlog
from django.contrib.auth import authenticate
from django.db import ProgrammingError, transaction

from tenants.actors import SYSTEM, staff
from tenants.errors import InvalidName, LastOwner
from tenants.models import AuditEvent, Membership, Mode, Role, Tenant, User
from tenants.services import accounts, audit
from tests.builders import NOW
from tests.database import owner

pytestmark = pytest.mark.django_db


def add(tenant, email="Dana@Acme.example", role=Role.OWNER, password=None):
    return accounts.create_member(
        tenant_id=tenant.pk, email=email, role=role, password=password, actor=SYSTEM, now=NOW
    )


class TestTenant:
    def test_is_created_and_audited(self):
        tenant = accounts.create_tenant(
            name="  Acme  ", mode=Mode.LIVE, actor=staff("usr_1"), now=NOW
        )

        assert (tenant.name, tenant.mode, tenant.status) == ("Acme", "live", "active")
        event = AuditEvent.objects.get()
        assert (event.action, event.tenant_id, event.subject_id) == (
            "tenant.created", tenant.pk, tenant.pk,
        )  # fmt: skip
        assert (event.actor_type, event.actor_id, event.created_at) == ("staff", "usr_1", NOW)
        assert event.details == {"name": "Acme", "mode": "live"}

    @pytest.mark.parametrize(
        "name", ["", "  ", "x" * 121, "a\tb", "a\u202eb", "a\u200bb", "a\u3164"]
    )
    def test_needs_a_name_that_can_be_read(self, name):
        with pytest.raises(InvalidName):
            accounts.create_tenant(name=name, mode=Mode.SANDBOX, actor=SYSTEM, now=NOW)

        assert not Tenant.objects.exists()

    def test_suspension_is_audited_once_each_way(self, acme):
        for change in (accounts.suspend, accounts.suspend, accounts.release, accounts.release):
            change(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        actions = AuditEvent.objects.order_by("id").values_list("action", flat=True)
        assert list(actions) == ["tenant.created", "tenant.suspended", "tenant.released"]


class TestMember:
    def test_is_a_person_with_a_role(self, acme):
        membership = add(acme, password="correct horse battery")

        user = membership.user
        assert (user.email, user.is_staff, membership.role) == ("dana@acme.example", False, "owner")
        assert authenticate(email="dana@acme.example", password="correct horse battery") == user

    def test_signs_in_with_the_address_in_any_case(self, acme):
        user = add(acme).user

        assert User.objects.get_by_natural_key("DANA@acme.EXAMPLE") == user

    def test_without_a_password_cannot_sign_in_yet(self, acme):
        assert not add(acme).user.has_usable_password()

    def test_keeps_their_password_when_invited_again(self, acme, rival):
        user = add(acme, password="correct horse battery").user

        add(rival, email="dana@ACME.example", password="another one entirely")

        user.refresh_from_db()
        assert user.check_password("correct horse battery")
        assert User.objects.count() == 1
        assert Membership.objects.count() == 2

    def test_changes_role_and_the_audit_log_says_so(self, acme):
        user = add(acme, role=Role.OWNER).user
        add(acme, email="lee@acme.example", role=Role.OWNER)
        add(acme, role=Role.VIEWER)

        assert Membership.objects.get(user=user).role == "viewer"
        events = AuditEvent.objects.filter(action__startswith="member", subject_id=user.pk)
        assert [(event.action, event.details) for event in events.order_by("id")] == [
            ("member.added", {"email": "dana@acme.example", "role": "owner"}),
            (
                "member.role_changed",
                {"email": "dana@acme.example", "role": "viewer", "before": "owner"},
            ),
        ]

    def test_keeps_the_role_of_the_last_owner(self, acme):
        """Found: the command line left a tenant without an owner."""
        add(acme, role=Role.OWNER)

        with pytest.raises(LastOwner):
            add(acme, role=Role.VIEWER)

        assert Membership.objects.get().role == "owner"


class TestAuditLog:
    def test_cannot_be_changed_nor_deleted(self, acme):
        event = AuditEvent.objects.get()

        for change in (lambda: AuditEvent.objects.update(action="x"), event.delete):
            with (
                owner.as_owner(),
                pytest.raises(ProgrammingError, match="Cannot update or delete"),
                transaction.atomic(),
            ):
                change()

        assert AuditEvent.objects.get().action == "tenant.created"

    def test_knows_the_request(self, acme):
        with structlog.contextvars.bound_contextvars(request_id="r1"):
            event = audit.record(tenant_id=acme.pk, actor=SYSTEM, action="x", now=NOW)

        assert (event.request_id, event.actor_type, event.details) == ("r1", "system", {})
