"""Looser rules that an owner asked for end when they are an owner no more (decision 0184)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals.errors import NotAnApprover
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import PaymentSettings
from payments.services import approval_settings, cool_down_settings, limit_settings
from tenants.actors import SYSTEM, staff, user
from tenants.errors import NotAnOwner
from tenants.models import AuditEvent, Membership, Mode, OutgoingEmail, Role
from tenants.services import closing, members
from tests.builders import NOW, make_member, make_staff, make_tenant

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)
A_DAY = (CapScope.TENANT, Window.DAY)
DANA, LEE = "dana@acme.example", "lee@acme.example"
STRICT = {**caps.NONE, A_DAY: Cap(1_000, 10)}
KEPT = ("payments.approval_threshold_kept", "payments.cool_down_kept", "payments.limits_kept")


@pytest.fixture
def live(db):
    """Strict in everything."""
    tenant = make_tenant(mode=Mode.LIVE)
    make_member(tenant, email=DANA)
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    cool_down_settings.set_hours(tenant_id=tenant.pk, hours=48, actor=SYSTEM, now=NOW)
    limit_settings.change(tenant_id=tenant.pk, wanted=STRICT, actor=SYSTEM, now=NOW)
    return tenant


@pytest.fixture
def lee(live):
    return make_member(live, email=LEE, role=Role.OWNER)


@pytest.fixture
def dana(live):
    return user(live.memberships.get(user__email=DANA).user_id)


def loosen(tenant, actor):
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=None, actor=actor, now=NOW)
    cool_down_settings.set_hours(tenant_id=tenant.pk, hours=0, actor=actor, now=NOW)
    limit_settings.change(tenant_id=tenant.pk, wanted=caps.NONE, actor=actor, now=NOW)


def rules_of(tenant, now=NOW + 2 * DAY):
    """The approval limit, the cool-down and the limit of a day that are in force."""
    row = PaymentSettings.objects.get(tenant=tenant)
    limit = caps.from_stored(row.limits_at(now))[A_DAY].amount
    return row.threshold_at(now), row.cool_down_at(now), limit


def ended():
    rows = AuditEvent.objects.filter(action__in=KEPT).order_by("action")
    return list(rows.values_list("action", "actor_id"))


def leave(how, tenant, person, by):
    membership = person.memberships.get()
    ids = {"tenant_id": tenant.pk, "membership_id": membership.pk}
    if how == "removed":
        members.remove(**ids, actor=by, now=NOW)
    elif how == "closed":
        closing.close(user_id=person.pk, actor=by, now=NOW)
    else:
        members.change_role(**ids, role=Role.APPROVER, actor=by, now=NOW)


def support():
    return staff(make_staff("sam@ballast.example").pk)


@pytest.mark.parametrize("how", ["removed", "demoted"])
def test_what_who_left_asked_for_does_not_come_into_force(live, lee, dana, how):
    loosen(live, user(lee.pk))

    leave(how, live, lee, dana)

    assert rules_of(live) == (1_000, 48, 1_000)
    assert ended() == [(action, dana.id) for action in KEPT]
    mail = OutgoingEmail.objects.filter(template="access_changed", to=DANA).latest("pk")
    withdrawn = "approval limit, limits, time for new recipients"
    assert {"label": "Looser rules withdrawn", "value": withdrawn} in mail.context["facts"]


def test_a_closed_account_ends_it_too(live, lee, dana):
    loosen(live, user(lee.pk))

    leave("closed", live, lee, support())

    assert rules_of(live) == (1_000, 48, 1_000)


def test_what_others_asked_for_goes_on(live, lee, dana):
    loosen(live, dana)

    leave("removed", live, lee, dana)

    assert rules_of(live) == (None, 0, None)
    assert ended() == []


def test_what_came_into_force_before_stays(live, lee, dana):
    loosen(live, user(lee.pk))

    membership = lee.memberships.get()
    members.remove(tenant_id=live.pk, membership_id=membership.pk, actor=dana, now=NOW + DAY)

    assert rules_of(live) == (None, 0, None)


@pytest.mark.parametrize("how", ["removed", "demoted", "closed"])
@pytest.mark.parametrize(
    ("threshold", "hours", "wanted"),
    [(None, 0, caps.NONE), (0, 720, {**caps.NONE, A_DAY: Cap(1, 1)}), (1_000, 48, STRICT)],
    ids=["looser", "stricter", "the same"],
)
def test_who_is_no_owner_any_more_changes_nothing(live, lee, dana, how, threshold, hours, wanted):
    """Found: what protects more was taken from who had been removed."""
    leave(how, live, lee, support() if how == "closed" else dana)
    by = {"tenant_id": live.pk, "actor": user(lee.pk), "now": NOW}

    with pytest.raises(NotAnOwner):
        approval_settings.set_threshold(threshold=threshold, **by)
    with pytest.raises(NotAnOwner):
        cool_down_settings.set_hours(hours=hours, **by)
    with pytest.raises(NotAnOwner):
        limit_settings.change(wanted=wanted, **by)
    assert rules_of(live) == (1_000, 48, 1_000)


@pytest.mark.parametrize("how", ["removed", "made a member", "closed"])
def test_who_approves_no_more_agrees_to_nothing(live, lee, dana, how):
    """Found: somebody who had been removed agreed to looser limits after it."""
    loosen(live, dana)
    if how == "made a member":
        Membership.objects.filter(user=lee).update(role=Role.MEMBER)
    else:
        leave(how, live, lee, support() if how == "closed" else dana)

    for rule in (approval_settings, cool_down_settings, limit_settings):
        with pytest.raises(NotAnApprover):
            rule.agree(tenant_id=live.pk, actor=user(lee.pk), now=NOW)
    assert rules_of(live, NOW) == (1_000, 48, 1_000)


def test_an_owner_who_is_an_approver_now_agrees(live, lee, dana):
    loosen(live, dana)
    leave("demoted", live, lee, dana)

    approval_settings.agree(tenant_id=live.pk, actor=user(lee.pk), now=NOW)

    assert rules_of(live, NOW) == (None, 48, 1_000)
