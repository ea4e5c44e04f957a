"""Who works for us, and in which roles: granted and ended, each with its line in the audit log.

Whoever changes somebody's powers, or relies on them, locks the person's row first.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import QuerySet

from tenants.actors import Actor
from tenants.errors import InvalidRole
from tenants.models import StaffPower, User
from tenants.services import audit, sessions


@transaction.atomic
def grant(
    *,
    email: str,
    roles: Collection[str],
    actor: Actor,
    now: datetime,
    asked_by: str | None = None,
    granted_by: str | None = None,
    note: str = "",
    operator: str = "",
) -> User:
    """Give the person with this address these roles, and an account without a password if there is
    none. What the person has already stays as it is. `asked_by` and `granted_by` are the ids of two
    people; a command has an `operator` in their place. Raises InvalidRole.
    """
    groups = list(Group.objects.filter(name__in=roles))
    if not roles or len(groups) != len(set(roles)):
        raise InvalidRole(f"Not all of these are roles: {', '.join(sorted(roles))}.")
    person = _locked(email)
    known = set(_current(person).values_list("group__name", flat=True))
    new = [group for group in groups if group.name not in known]
    person.is_staff = True
    person.save(update_fields=["is_staff"])
    person.groups.add(*new)
    StaffPower.objects.bulk_create(
        StaffPower(
            user=person,
            group=group,
            asked_by_id=asked_by,
            granted_by_id=granted_by,
            granted_at=now,
        )
        for group in new
    )
    if new:
        _audit("granted", person, [group.name for group in new], actor, note, operator, now)
    return person


@transaction.atomic
def end(*, user_id: str, actor: Actor, now: datetime, note: str = "", operator: str = "") -> bool:
    """The person works for us no more, and is signed out. False if that was so already."""
    people = User.objects.select_for_update(no_key=True).defer("password")
    person = people.get(pk=user_id)
    if not (person.is_staff or person.is_superuser):
        return False
    names = list(_current(person).values_list("group__name", flat=True))
    _current(person).update(ended_at=now)
    person.groups.clear()
    person.user_permissions.clear()
    person.is_staff = person.is_superuser = False
    person.save(update_fields=["is_staff", "is_superuser"])
    sessions.end_all(user_id=user_id)
    _audit("ended", person, names, actor, note, operator, now)
    return True


def _locked(email: str) -> User:
    rows = User.objects.select_for_update(no_key=True).defer("password")
    person = rows.filter(email=email.lower()).first()
    return person or User.objects.create_user(email=email.lower())


def _current(person: User) -> QuerySet[StaffPower]:
    return StaffPower.objects.filter(user=person, ended_at=None)


def _audit(
    what: str,
    person: User,
    roles: list[str],
    actor: Actor,
    note: str,
    operator: str,
    now: datetime,
) -> None:
    named = {"operator": operator} if operator else {}
    audit.record(
        tenant_id=None,
        actor=actor,
        action=f"staff.{what}",
        subject_id=person.pk,
        details={"email": person.email, "roles": sorted(roles), **named},
        staff_note=note,
        now=now,
    )
