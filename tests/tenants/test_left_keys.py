"""The API keys of somebody who leaves: revoked, unless another owner takes them over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenants import actors, persons
from tenants.actors import SYSTEM, user
from tenants.errors import NotAnOwner
from tenants.models import ApiKey, AuditEvent, Membership, OutgoingEmail, Role
from tenants.services import keys, members
from tests.builders import NOW, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)


@pytest.fixture
def lee(acme, dana):
    return make_member(acme, email="lee@acme.example", role=Role.OWNER)


def issue(tenant, actor, name="server"):
    return keys.issue(tenant=tenant, name=name, actor=actor, now=NOW).key


def remove(tenant, person, by, *, take_over=()):
    ended = members.remove(
        tenant_id=tenant.pk,
        membership_id=Membership.objects.get(tenant=tenant, user=person).pk,
        take_over=take_over,
        actor=by,
        now=NOW,
    )
    return ended.keys


def is_usable(key):
    return ApiKey.objects.filter(pk=key.pk, revoked_at=None).exists()


class TestRemoval:
    def test_revokes_the_keys_of_who_leaves_and_no_others(self, acme, rival, dana, lee):
        make_member(rival, email="lee@acme.example", role=Role.OWNER)
        left = issue(acme, user(lee.pk))
        others = [
            issue(acme, user(dana.pk)),
            issue(acme, SYSTEM),
            issue(rival, user(lee.pk)),
        ]

        settled = remove(acme, lee, user(dana.pk))

        assert (settled.taken_over, settled.revoked) == (0, 1)
        assert not is_usable(left)
        assert all(is_usable(key) for key in others)
        line = AuditEvent.objects.get(action="api_key.revoked")
        assert (line.subject_id, line.actor_id) == (left.pk, dana.pk)

    def test_lets_another_owner_take_some_over(self, acme, dana, lee):
        kept, left = issue(acme, user(lee.pk)), issue(acme, user(lee.pk))

        settled = remove(acme, lee, user(dana.pk), take_over=[kept.pk])

        assert (settled.taken_over, settled.revoked) == (1, 1)
        assert (is_usable(kept), is_usable(left)) == (True, False)
        assert persons.behind(actors.api_key(kept.pk)) == dana.pk
        line = AuditEvent.objects.get(action="api_key.taken_over")
        assert (line.subject_id, line.details) == (kept.pk, {"name": "server", "from": lee.pk})

    def test_takes_over_no_key_of_somebody_else(self, acme, rival, dana, lee):
        foreign, own = issue(rival, SYSTEM), issue(acme, SYSTEM)

        settled = remove(acme, lee, user(dana.pk), take_over=[foreign.pk, own.pk, "nonsense"])

        assert settled.taken_over == 0
        assert not AuditEvent.objects.filter(action="api_key.taken_over").exists()

    def test_leaves_ended_keys_as_they_are(self, acme, dana, lee):
        key = issue(acme, user(lee.pk))
        keys.revoke(key_id=key.pk, actor=SYSTEM, now=NOW - timedelta(days=1))

        assert remove(acme, lee, user(dana.pk)).revoked == 0
        assert ApiKey.objects.get().revoked_at == NOW - timedelta(days=1)

    @pytest.mark.parametrize("who", ["themselves", "staff", "viewer", "stranger"])
    def test_hands_keys_to_another_owner_only(self, acme, dana, lee, who):
        key = issue(acme, user(lee.pk))
        viewer = make_member(acme, email="vic@acme.example", role=Role.VIEWER)
        by = {
            "themselves": user(lee.pk),
            "staff": actors.staff("usr_1"),
            "viewer": user(viewer.pk),
            "stranger": user("usr_1"),
        }[who]

        with pytest.raises(NotAnOwner):
            remove(acme, lee, by, take_over=[key.pk])

        assert is_usable(key)
        assert Membership.objects.filter(user=lee).exists()

    def test_is_mailed_to_the_owners(self, acme, dana, lee):
        kept, _left = issue(acme, user(lee.pk)), issue(acme, user(lee.pk))

        remove(acme, lee, user(dana.pk), take_over=[kept.pk])

        mails = OutgoingEmail.objects.filter(context__page="dashboard:team").order_by("to")
        assert [mail.to for mail in mails] == ["dana@acme.example"]
        assert mails[0].context["what"] == "lee@acme.example is no longer on the team"
        assert mails[0].context["facts"] == [
            {"label": "Keys taken over", "value": "1"},
            {"label": "Keys revoked", "value": "1"},
        ]


class TestMaking:
    """A form that was open while its reader was removed, or made a viewer, makes no key."""

    @pytest.fixture(params=["removed", "viewer"])
    def former(self, request, acme, dana, lee):
        if request.param == "removed":
            remove(acme, lee, user(dana.pk))
        else:
            Membership.objects.filter(user=lee).update(role=Role.VIEWER)
        return user(lee.pk)

    def test_is_refused_to_a_former_owner(self, acme, former):
        with pytest.raises(NotAnOwner):
            issue(acme, former)

        assert not ApiKey.objects.exists()

    def test_so_is_a_rotation(self, acme, former):
        key = issue(acme, SYSTEM)

        with pytest.raises(NotAnOwner):
            keys.rotate(key=key, overlap=timedelta(0), actor=former, now=NOW)

        assert ApiKey.objects.get().expires_at is None
