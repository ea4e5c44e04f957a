"""Bytes into messages: what cannot be used has a named fault, and nothing else is ever raised."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from networks.instant.iso import documents, envelopes, leaves, validation
from networks.instant.iso.envelopes import Envelope
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.layouts.base import Layout
from networks.instant.iso.layouts.known import layout_named
from networks.instant.iso.messages import Account, Header, Message, Reason, Rejection
from networks.instant.iso.profiles import Profile

_PARTS: Mapping[str, type[Account | Reason]] = MappingProxyType(
    {"debtor": Account, "creditor": Account, "reason": Reason}
)


class Read(NamedTuple):
    header: Header
    message: Message


def read(content: bytes, profile: Profile) -> Read:
    """The message, and who sent it. Raises Unreadable."""
    envelope = envelopes.opened(documents.parsed(content), profile)
    layout = layout_named(envelope.name, envelope.wrapper, profile)
    validation.require_valid(envelope.root, profile)
    message = _message(envelope, layout, profile)
    return Read(_header(envelope, message, profile), message)


def _message(envelope: Envelope, layout: Layout, profile: Profile) -> Message:
    values = leaves.read(
        envelope.message,
        layout.leaves,
        namespace=f"{envelopes.ISO}{envelope.name}",
        profile=profile,
    )
    return layout.message(**_nested(values))


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `debtor.name` and the like, put together."""
    fields: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for source, value in values.items():
        field, _, part = source.partition(".")
        if part:
            parts.setdefault(field, {})[part] = value
        else:
            fields[field] = value
    return fields | {field: _PARTS[field](**part) for field, part in parts.items()}


def _header(envelope: Envelope, message: Message, profile: Profile) -> Header:
    namespace = envelopes.header_namespace(profile)
    values = leaves.read(
        envelope.header,
        envelopes.header_leaves(envelope.name),
        namespace=namespace,
        profile=profile,
    )
    name = envelope.header.findtext(f"{{{namespace}}}{envelopes.NAME}") or ""
    if name.strip() != envelope.name:
        raise Unreadable("header_mismatch", envelopes.NAME)
    if isinstance(message, Rejection):
        return Header(message_id=values["business_id"], **values)
    return Header(message_id=message.message_id, **values)
