"""What people may do, which `tenants.permissions` reads in its own way, is what Django says."""

from __future__ import annotations

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Group, Permission

from desk import roles
from tenants.models import User
from tests.builders import make_staff

PERMISSIONS = ("tenants.view_tenant", "ach.view_achrail", "ach.release_outfile", "ach.no_such")


@pytest.fixture
def person(db):
    """Somebody with two roles, of which one gives what the other gives, too, and with a permission
    of their own."""
    roles.ensure()
    lee = make_staff("lee@ballast.example", ("tenants.view_tenant",))
    lee.groups.set(Group.objects.filter(name__in=("Viewer", "Releaser")))
    lee.user_permissions.set(Permission.objects.filter(codename="change_tenant"))
    return User.objects.get(pk=lee.pk)


def says_as_django(person, obj=None):
    """Of a fresh object, because Django keeps what it has read."""
    djangos, backend = User.objects.get(pk=person.pk), ModelBackend()
    djangos.is_active, djangos.is_superuser = person.is_active, person.is_superuser
    if person.get_all_permissions(obj) != backend.get_all_permissions(djangos, obj):
        return False
    answers = [
        (person.has_perm(name, obj), djangos_has(djangos, name, obj)) for name in PERMISSIONS
    ]
    return all(ours == theirs for ours, theirs in answers)


def djangos_has(person, name, obj):
    is_all_powerful = person.is_active and person.is_superuser
    return is_all_powerful or ModelBackend().has_perm(person, name, obj)


class TestPermissions:
    def test_are_those_of_groups_and_of_the_person(self, person):
        assert {"tenants.view_tenant", "ach.release_outfile", "tenants.change_tenant"} <= (
            person.get_all_permissions()
        )
        assert "ach.hold_outfile" not in person.get_all_permissions()
        assert says_as_django(person)

    def test_are_all_for_a_superuser(self, person):
        person.is_superuser = True

        assert len(person.get_all_permissions()) == Permission.objects.count()
        assert person.has_perm("ach.no_such")
        assert says_as_django(person)

    @pytest.mark.parametrize("is_superuser", [False, True])
    def test_are_none_for_who_was_switched_off(self, person, is_superuser):
        person.is_active, person.is_superuser = False, is_superuser

        assert person.get_all_permissions() == set()
        assert not person.has_module_perms("ach")
        assert says_as_django(person)

    def test_are_none_of_single_rows(self, person):
        assert not person.has_perm("tenants.view_tenant", obj=person)
        assert says_as_django(person, obj=person)

    def test_are_known_by_app(self, person):
        person.user_permissions.clear()
        person.groups.set(Group.objects.filter(name="Releaser"))
        only_files = User.objects.get(pk=person.pk)

        assert only_files.has_module_perms("ach")
        assert not only_files.has_module_perms("ac")

    def test_take_one_query(self, person, django_assert_num_queries):
        with django_assert_num_queries(1):
            person.get_all_permissions()
            person.has_perms(PERMISSIONS)
