"""Somebody is let in by a page, and removed before their request has the lock of the tenant."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import transaction

from approvals.errors import NotAnApprover
from payments.services import approval_settings, approvals, cool_down_settings
from tenants import actors
from tenants.errors import NotAnOwner
from tenants.models import AuditEvent, Mode, Role, Tenant
from tenants.services import members
from tests.builders import NOW, make_member, make_tenant
from tests.races.together import together, wait_for_a_lock

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def live():
    """Payments above $10.00 need a second person, and Dana wants that nobody is asked."""
    tenant = make_tenant(mode=Mode.LIVE)
    dana, _lee = (
        make_member(tenant, email=f"{name}@acme.example", role=Role.OWNER)
        for name in ("dana", "lee")
    )
    for threshold, by in ((1_000, actors.SYSTEM), (None, actors.user(dana.pk))):
        approval_settings.set_threshold(tenant_id=tenant.pk, threshold=threshold, actor=by, now=NOW)
    Tenant.objects.filter(pk=tenant.pk).update(requires_second_factor=True)
    return tenant


def outcome_of(tenant, act):
    """What Lee's act comes to, which waits until Dana has removed Lee."""
    dana, lee = tenant.memberships.order_by("user__email")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            members.remove(
                tenant_id=tenant.pk,
                membership_id=lee.pk,
                actor=actors.user(dana.user_id),
                now=NOW,
            )
            by = {"tenant_id": tenant.pk, "actor": actors.user(lee.user_id), "now": NOW}
            acting = pool.submit(together, lambda _worker: act(**by), workers=1)
            wait_for_a_lock()
        (outcome,) = acting.result()
    return outcome


def test_who_is_removed_agrees_to_no_looser_limit(live):
    assert isinstance(outcome_of(live, approval_settings.agree), NotAnApprover)

    limit = approvals.approval_threshold(tenant_id=live.pk, mode=live.mode, now=NOW)
    assert limit == 1_000


def test_who_is_removed_changes_no_rule(live):
    outcome = outcome_of(live, partial(cool_down_settings.set_hours, hours=720))

    assert isinstance(outcome, NotAnOwner)
    assert not AuditEvent.objects.filter(action="payments.cool_down_changed").exists()


def test_who_is_removed_makes_no_second_factor_optional(live):
    outcome = outcome_of(live, partial(members.require_second_factor, required=False))

    assert isinstance(outcome, NotAnOwner)
    assert Tenant.objects.get(pk=live.pk).requires_second_factor
