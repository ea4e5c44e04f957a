"""Which person is behind an actor: what an API key does, its maker does (decision 0169).

Who made a key is in the audit log, which nobody rewrites: whoever issued it, until another owner
took it over. A rotated key is a new one, so whoever rotated it made it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models import QuerySet

from tenants.actors import Actor
from tenants.models import ActorType, ApiKey, AuditEvent

ISSUED = "api_key.issued"
TAKEN_OVER = "api_key.taken_over"
_PEOPLE = (ActorType.USER, ActorType.STAFF)


def behind(actor: Actor) -> str | None:
    """The id of the person who acts; None for what no person does, such as the product itself, and
    for a key that operators made at the command line. One query for a key, none for others."""
    if actor.type == ActorType.API_KEY:
        return makers([actor.id]).get(actor.id)
    return actor.id if actor.type in _PEOPLE else None


def ever_behind(actor: Actor) -> frozenset[str]:
    """The ids of everybody who is or was behind the actor: of a key, those too who had it before it
    was taken over. One query for a key, none for others."""
    return ever_behind_each([actor])[actor]


def ever_behind_each(actors: Collection[Actor]) -> dict[Actor, frozenset[str]]:
    """What `ever_behind` says of each. One query if there are keys among them, none otherwise."""
    keys = {actor.id for actor in actors if actor.type == ActorType.API_KEY}
    lines = _lines(keys).values_list("subject_id", "actor_id") if keys else ()
    by_key: dict[str, set[str]] = {}
    for key_id, person in lines:
        by_key.setdefault(key_id, set()).add(person)
    return {actor: frozenset(_people_of(actor, by_key)) for actor in actors}


def _people_of(actor: Actor, by_key: Mapping[str, set[str]]) -> Collection[str]:
    if actor.type == ActorType.API_KEY:
        return by_key.get(actor.id, ())
    return (actor.id,) if actor.type in _PEOPLE else ()


def makers(key_ids: Collection[str]) -> dict[str, str]:
    """The person behind each of these keys, by the key's id; keys without one are left out. One
    query."""
    lines = _lines(key_ids).order_by("created_at", "pk")
    return dict(lines.values_list("subject_id", "actor_id"))


def ids_of(*, tenant_id: str, person_id: str) -> list[str]:
    """The ids under which a person acts in the tenant: their own, and those of the keys that they
    are behind, revoked ones included. Two queries."""
    keys = list(ApiKey.objects.filter(tenant_id=tenant_id).values_list("pk", flat=True))
    return [person_id, *(key for key, maker in makers(keys).items() if maker == person_id)]


def _lines(key_ids: Collection[str]) -> QuerySet[AuditEvent]:
    """The lines of the audit log that say which people had these keys."""
    return AuditEvent.objects.filter(
        subject_id__in=key_ids, action__in=(ISSUED, TAKEN_OVER), actor_type__in=_PEOPLE
    )
