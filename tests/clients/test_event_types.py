"""The Python client types every event as publishers fill it, and as the document describes it."""

from __future__ import annotations

from datetime import datetime
from types import NoneType
from typing import NotRequired, get_args, get_origin, get_type_hints

from ballast_client import types

from tests import document
from webhooks import bodies, events

PUBLISHED = {
    **dict.fromkeys(events.PAYMENT_EVENTS, bodies.PaymentData),
    **bodies.NOTICES,
    events.TEST: bodies.PingData,
}


def typed_data():
    """The type of `data` that the client gives to each event, by the event's name."""
    hints = [get_type_hints(event) for event in get_args(types.Event)]
    return {name: hint["data"] for hint in hints for name in get_args(hint["type"])}


def in_json(hint):
    """A publisher's type as what a client reads: moments are text, attempts a list."""
    if hint == tuple[bodies.Attempt, ...] | None:
        return list[types.Attempt] | None
    return str | None if hint == datetime | None else str if hint is datetime else hint


def published_members(data):
    """(name, type in JSON, whether it may be left out) of each member of a body."""
    hints = get_type_hints(data)
    told = {member: in_json(hints[member.attribute]) for member in bodies.MEMBERS[data]}
    return [
        (member.name, without_none(hint) if member.is_optional else hint, member.is_optional)
        for member, hint in told.items()
    ]


def without_none(hint):
    (only,) = set(get_args(hint)) - {NoneType}
    return only


def typed_members(data):
    plain, marked = get_type_hints(data), get_type_hints(data, include_extras=True)
    return [(name, plain[name], get_origin(marked[name]) is NotRequired) for name in plain]


def test_the_client_knows_every_event():
    assert typed_data().keys() == PUBLISHED.keys() == document.load()["webhooks"].keys()


def test_the_client_types_the_members_of_an_attempt():
    told = get_type_hints(types.Attempt)
    named = {"method": types.PaymentMethodUsed, "network": types.Network | None}
    published = {name: hint for name, hint, _ in published_members(bodies.Attempt)}

    assert told == {**published, **named}


def test_the_client_types_what_publishers_fill():
    assert {name: typed_members(data) for name, data in typed_data().items()} == {
        name: published_members(data) for name, data in PUBLISHED.items()
    }
