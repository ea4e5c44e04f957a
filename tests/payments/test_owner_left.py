"""Looser rules that an owner asked for end when they are an owner no more (decision 0184)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import PaymentSettings
from payments.services import approval_settings, cool_down_settings, limit_settings
from tenants.actors import SYSTEM, staff, user
from tenants.errors import NotAnOwner
from tenants.models import AuditEvent, Mode, OutgoingEmail, Role
from tenants.services import closing, members
from tests.builders import NOW, make_member, make_staff, make_tenant

pytestmark = pytest.mark.django_db

DAY = timedelta(hours=24)
A_DAY = (CapScope.TENANT, Window.DAY)
DANA, LEE = "dana@acme.example", "lee@acme.example"
KEPT = ("payments.approval_threshold_kept", "payments.cool_down_kept", "payments.limits_kept")


@pytest.fixture
def live(db):
    """Strict in everything."""
    tenant = make_tenant(mode=Mode.LIVE)
    make_member(tenant, email=DANA)
    strict = {**caps.NONE, A_DAY: Cap(1_000, 10)}
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    cool_down_settings.set_hours(tenant_id=tenant.pk, hours=48, actor=SYSTEM, now=NOW)
    limit_settings.change(tenant_id=tenant.pk, wanted=strict, actor=SYSTEM, now=NOW)
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

    leave("closed", live, lee, staff(make_staff("sam@ballast.example").pk))

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


def test_who_is_no_owner_any_more_asks_for_nothing(live, lee, dana):
    leave("demoted", live, lee, dana)

    for ask in (
        lambda: approval_settings.set_threshold(
            tenant_id=live.pk, threshold=None, actor=user(lee.pk), now=NOW
        ),
        lambda: cool_down_settings.set_hours(
            tenant_id=live.pk, hours=0, actor=user(lee.pk), now=NOW
        ),
        lambda: limit_settings.change(
            tenant_id=live.pk, wanted=caps.NONE, actor=user(lee.pk), now=NOW
        ),
    ):
        with pytest.raises(NotAnOwner):
            ask()
