"""Who can be given an item."""

from __future__ import annotations

from django.db.models import Q

from desk.items.subjects import Subject, powers
from tenants.models import User

WORKS = "desk.add_assignment"


def able() -> dict[str, str]:
    """The addresses of those who work on items now, by their ids, sorted. One query."""
    app, _, code = WORKS.partition(".")
    by_role = Q(
        groups__permissions__codename=code, groups__permissions__content_type__app_label=app
    )
    people = User.objects.filter(by_role | Q(is_superuser=True), is_active=True, is_staff=True)
    return dict(people.order_by("email").values_list("pk", "email").distinct())


def can_work_on(subject: Subject, user_id: str) -> bool:
    """Whether they work on items and can open this one's page."""
    people = User.objects.filter(pk=user_id, is_active=True, is_staff=True)
    person = people.defer("password").first() if "\0" not in user_id else None
    return person is not None and person.has_perms((WORKS, *powers(subject.kind)))
