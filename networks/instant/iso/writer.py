"""Messages into bytes: the canonical form, in which the same message has the same bytes."""

from __future__ import annotations

from lxml import etree

from networks.instant.iso import documents, envelopes, ids, leaves
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.layouts.known import layout_of
from networks.instant.iso.leaves import Said
from networks.instant.iso.messages import Header, Message, Rejection
from networks.instant.iso.profiles import Profile


def header_of(message: Message, *, sender: str, receiver: str, profile: Profile) -> Header:
    """The header of a message that names itself, made in the same moment."""
    if isinstance(message, Rejection):
        raise ValueError("a rejection does not name itself: it needs a header of its own")
    return Header(
        message_id=message.message_id,
        business_id=ids.business_id(profile, message.message_id),
        sender=sender,
        receiver=receiver,
        created_at=message.created_at,
    )


def write(message: Message, header: Header, profile: Profile) -> bytes:
    """The message in the network's envelope.

    Raises ValueError for one that the network does not have, and for a value that is missing or
    does not fit.
    """
    layout = layout_of(message, profile)
    if not isinstance(message, Rejection) and header.message_id != message.message_id:
        raise ValueError("the header names another message")
    name = profile.full_name(message.kind)
    envelope = envelopes.closed(
        layout.wrapper,
        layout.root,
        name,
        profile=profile,
        is_from_operator=header.sender == profile.operator,
    )
    leaves.write(
        envelope.header,
        envelopes.header_leaves(name),
        Said(header, header),
        namespace=envelopes.header_namespace(profile),
        profile=profile,
    )
    leaves.write(
        envelope.message,
        layout.leaves,
        Said(message, header),
        namespace=f"{envelopes.ISO}{name}",
        profile=profile,
    )
    return documents.canonical_of(envelope.root)


def duplicate(content: bytes, profile: Profile) -> bytes:
    """The identical message, marked as a duplicate in its header. Raises Unreadable."""
    envelope = envelopes.opened(documents.parsed(content), profile)
    namespace = envelopes.header_namespace(profile)
    mark = f"{{{namespace}}}{envelopes.DUPLICATE}"
    created = envelope.header.find(f"{{{namespace}}}{envelopes.CREATED}")
    if created is None:
        raise Unreadable("element_missing", envelopes.CREATED)
    if envelope.header.find(mark) is None:
        element = etree.Element(mark)
        element.text = "DUPL"
        created.addnext(element)
    return documents.canonical_of(envelope.root)
