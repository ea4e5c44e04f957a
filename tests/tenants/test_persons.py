"""Who is behind an actor."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tenants import actors, persons
from tenants.actors import SYSTEM, user
from tenants.models import Role
from tenants.services import audit, keys
from tests.builders import NOW, make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)


@pytest.fixture
def lee(acme):
    return make_member(acme, email="lee@acme.example", role=Role.OWNER)


def issue(tenant, actor):
    return keys.issue(tenant=tenant, name="server", actor=actor, now=NOW).key


def take_over(key, person):
    audit.record(
        tenant_id=key.tenant_id,
        actor=user(person.pk),
        action=persons.TAKEN_OVER,
        subject_id=key.pk,
        now=NOW + timedelta(hours=1),
    )


def test_people_act_for_themselves():
    assert persons.behind(user("usr_1")) == "usr_1"
    assert persons.behind(actors.staff("usr_2")) == "usr_2"
    assert persons.ever_behind(user("usr_1")) == {"usr_1"}


@pytest.mark.parametrize(
    "actor", [SYSTEM, actors.approver("dana@acme.example"), actors.network("ach")]
)
def test_nobody_known_is_behind_the_rest(actor):
    assert persons.behind(actor) is None
    assert persons.ever_behind(actor) == frozenset()


class TestKey:
    def test_acts_for_whoever_issued_it(self, acme, dana, django_assert_num_queries):
        key = issue(acme, user(dana.pk))

        with django_assert_num_queries(1):
            assert persons.behind(actors.api_key(key.pk)) == dana.pk

    def test_of_the_command_line_has_nobody_behind_it(self, acme):
        key = actors.api_key(issue(acme, SYSTEM).pk)

        assert persons.behind(key) is None
        assert persons.ever_behind(key) == frozenset()

    def test_that_was_rotated_acts_for_whoever_rotated_it(self, acme, dana, lee):
        old = issue(acme, user(dana.pk))
        day = timedelta(days=1)
        new = keys.rotate(key=old, overlap=day, actor=user(lee.pk), now=NOW).key

        assert persons.behind(actors.api_key(old.pk)) == dana.pk
        assert persons.behind(actors.api_key(new.pk)) == lee.pk

    def test_that_was_taken_over_acts_for_the_new_owner(self, acme, dana, lee):
        key = issue(acme, user(dana.pk))

        take_over(key, lee)

        assert persons.behind(actors.api_key(key.pk)) == lee.pk
        assert persons.ever_behind(actors.api_key(key.pk)) == {dana.pk, lee.pk}

    def test_stays_with_its_maker_whatever_else_is_done_to_it(self, acme, dana, lee):
        key = issue(acme, user(dana.pk))

        keys.revoke(key_id=key.pk, actor=user(lee.pk), now=NOW + timedelta(hours=1))

        assert persons.behind(actors.api_key(key.pk)) == dana.pk


def test_the_ids_of_a_person_are_their_own_and_their_keys(acme, rival, dana, lee):
    make_member(rival, email=dana.email, role=Role.OWNER)
    own, taken = issue(acme, user(dana.pk)), issue(acme, user(lee.pk))
    keys.revoke(key_id=own.pk, actor=SYSTEM, now=NOW)
    take_over(taken, dana)
    for tenant, actor in ((acme, SYSTEM), (acme, user(lee.pk)), (rival, user(dana.pk))):
        issue(tenant, actor)

    found = persons.ids_of(tenant_id=acme.pk, person_id=dana.pk)

    assert sorted(found) == sorted([dana.pk, own.pk, taken.pk])
