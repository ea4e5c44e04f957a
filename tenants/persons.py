"""Which person is behind an actor: what an API key does, its maker does (decision 0169).

Who made a key is in the audit log, which nobody rewrites: whoever issued it, until another owner
took it over. A rotated key is a new one, so whoever rotated it made it; but who was behind the one
before is asked about nothing that it pays, either, because the same programs pay by it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db.models import QuerySet

from tenants.actors import Actor
from tenants.models import ActorType, ApiKey, AuditEvent

ISSUED = "api_key.issued"
TAKEN_OVER = "api_key.taken_over"
# In the line of a key that was made in the place of another: the ids of who was behind that one.
FORMER_HOLDERS = "formerHolders"
_PEOPLE = (ActorType.USER, ActorType.STAFF)


def behind(actor: Actor) -> str | None:
    """The id of the person who acts; None for what no person does, such as the product itself, and
    for a key that operators made at the command line. One query for a key, none for others."""
    if actor.type == ActorType.API_KEY:
        return makers([actor.id]).get(actor.id)
    return actor.id if actor.type in _PEOPLE else None


def ever_behind(actor: Actor) -> frozenset[str]:
    """The ids of everybody who is or was behind the actor: of a key, those too who had it before it
    was taken over, and who had those in whose place it was made. One query for a key, none for
    others."""
    return ever_behind_each([actor])[actor]


def ever_behind_each(actors: Collection[Actor]) -> dict[Actor, frozenset[str]]:
    """What `ever_behind` says of each. One query if there are keys among them, none otherwise."""
    keys = {actor.id for actor in actors if actor.type == ActorType.API_KEY}
    lines = _lines(keys).values_list("subject_id", "actor_id", "details") if keys else ()
    by_key: dict[str, set[str]] = {}
    for key_id, person, details in lines:
        by_key.setdefault(key_id, set()).update([person, *details.get(FORMER_HOLDERS, ())])
    return {actor: frozenset(_people_of(actor, by_key)) for actor in actors}


def only_holder(actor: Actor) -> str | None:
    """The person behind the actor, if nobody else ever was: of a key, who else knew its text. A
    rotated key has a new text. One query for a key, none for others."""
    if actor.type != ActorType.API_KEY:
        return behind(actor)
    holders = set(_lines([actor.id]).values_list("actor_id", flat=True))
    return holders.pop() if len(holders) == 1 else None


def _people_of(actor: Actor, by_key: Mapping[str, set[str]]) -> Collection[str]:
    if actor.type == ActorType.API_KEY:
        return by_key.get(actor.id, ())
    return (actor.id,) if actor.type in _PEOPLE else ()


def makers(key_ids: Collection[str]) -> dict[str, str]:
    """The person behind each of these keys, by the key's id; keys without one are left out. One
    query."""
    lines = _lines(key_ids).order_by("created_at", "pk")
    return dict(lines.values_list("subject_id", "actor_id"))


def takers(key_ids: Collection[str]) -> dict[str, str]:
    """The person behind each of these keys that somebody else was behind before, by the key's id.
    One query."""
    holders: dict[str, list[str]] = {}
    lines = _lines(key_ids).order_by("created_at", "pk")
    for key_id, person in lines.values_list("subject_id", "actor_id"):
        holders.setdefault(key_id, []).append(person)
    return {key: people[-1] for key, people in holders.items() if len(set(people)) > 1}


def ids_of(*, tenant_id: str, person_id: str) -> list[str]:
    """The ids under which a person acts in the tenant: their own, and those of the keys that they
    are behind, revoked ones included. Two queries."""
    keys = list(ApiKey.objects.filter(tenant_id=tenant_id).values_list("pk", flat=True))
    return [person_id, *(key for key, maker in makers(keys).items() if maker == person_id)]


def ids_ever_of(*, tenant_id: str, person_id: str) -> list[str]:
    """The same, with the ids of keys that they were behind before, or behind what those were made
    in the place of. Two queries."""
    return [person_id, *keys_ever_of(tenant_id=tenant_id, person_id=person_id)]


def keys_ever_of(*, tenant_id: str, person_id: str) -> list[str]:
    """The ids of these keys alone. Two queries."""
    keys = ApiKey.objects.filter(tenant_id=tenant_id).values_list("pk", flat=True)
    found = ever_behind_each([Actor(ActorType.API_KEY, key) for key in keys])
    return [key.id for key, people in found.items() if person_id in people]


def _lines(key_ids: Collection[str]) -> QuerySet[AuditEvent]:
    """The lines of the audit log that say which people had these keys."""
    return AuditEvent.objects.filter(
        subject_id__in=key_ids, action__in=(ISSUED, TAKEN_OVER), actor_type__in=_PEOPLE
    )
