"""A body's `data` as a JSON schema, derived from its type."""

from __future__ import annotations

from datetime import datetime
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from webhooks.bodies import MEMBERS, Data

Document = dict[str, Any]

_SCALARS: dict[object, Document] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    datetime: {"type": "string", "format": "date-time"},
}


def schema_of(data: type[Data]) -> Document:
    """The JSON schema of `data`. It allows more members, because receivers have to expect
    new ones."""
    hints = get_type_hints(data, include_extras=True)
    members = MEMBERS[data]
    return {
        "type": "object",
        "required": [member.name for member in members if not member.is_optional],
        "properties": {
            member.name: _schema(hints[member.attribute], is_optional=member.is_optional)
            for member in members
        },
    }


def _schema(hint: Any, *, is_optional: bool) -> Document:
    """The schema of one member. An optional member is left out rather than null."""
    if get_origin(hint) is Annotated:
        plain, description = get_args(hint)
        return {**_schema(plain, is_optional=is_optional), "description": description}
    if get_origin(hint) is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    kinds = [hint] if get_origin(hint) is tuple else list(get_args(hint) or (hint,))
    kinds = [kind for kind in kinds if kind is not NoneType]
    if get_origin(kinds[0]) is tuple:
        return {"type": "array", "items": schema_of(get_args(kinds[0])[0])}
    schema = _SCALARS[kinds[0]]
    if is_optional or NoneType not in get_args(hint):
        return dict(schema)
    return {**schema, "type": [schema["type"], "null"]}
