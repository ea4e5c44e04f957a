"""The layouts by their network and message."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from networks.instant.iso.faults import Unreadable
from networks.instant.iso.layouts import fednow, rtp
from networks.instant.iso.layouts.base import Layout
from networks.instant.iso.messages import Message
from networks.instant.iso.profiles import Profile

_BY_KIND: Mapping[str, Mapping[str, Layout]] = MappingProxyType(
    {
        "rtp": {layout.message.kind: layout for layout in rtp.LAYOUTS},
        "fednow": {layout.message.kind: layout for layout in fednow.LAYOUTS},
    }
)


def layout_of(message: Message, profile: Profile) -> Layout:
    """Raises ValueError for a message that the network does not have."""
    layout = _BY_KIND[profile.name].get(message.kind)
    if layout is None:
        raise ValueError(f"{profile.name} has no {message.kind}")
    return layout


def layout_named(name: str, wrapper: str, profile: Profile) -> Layout:
    """The layout of a message that came, by its name with the version and by what the network calls
    it. Raises Unreadable."""
    kind = name[: len("pacs.008")]
    layout = _BY_KIND[profile.name].get(kind)
    if layout is None:
        raise Unreadable("message_unsupported")
    if name != profile.full_name(kind):
        raise Unreadable("version_unsupported")
    if wrapper != layout.wrapper:
        raise Unreadable("envelope_unknown")
    return layout
