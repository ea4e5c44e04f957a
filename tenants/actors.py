"""Who does something. Services pass it on into history and audit rows."""

from __future__ import annotations

from dataclasses import dataclass

from tenants.models import ActorType


@dataclass(frozen=True)
class Actor:
    """`id` is the id of a user or key, or an approver's e-mail address; empty for the system
    itself."""

    type: ActorType
    id: str = ""


SYSTEM = Actor(ActorType.SYSTEM)


def api_key(key_id: str) -> Actor:
    return Actor(ActorType.API_KEY, key_id)


def user(user_id: str) -> Actor:
    return Actor(ActorType.USER, user_id)


def staff(user_id: str) -> Actor:
    return Actor(ActorType.STAFF, user_id)


def approver(email: str) -> Actor:
    return Actor(ActorType.APPROVER, email)


def network(name: str) -> Actor:
    return Actor(ActorType.NETWORK, name)
