"""What stands around a message: the network's envelope and the business application header.

RTP puts header and message side by side under `Message`, and has no Document. FedNow names the
direction: what goes to the service is incoming, what comes from it is outgoing.
"""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from networks.instant.iso import kinds
from networks.instant.iso.documents import Element
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.leaves import Leaf, fixed, optional
from networks.instant.iso.profiles import FEDNOW, RTP, Profile

ISO = "urn:iso:std:iso:20022:tech:xsd:"
DUPLICATE = "CpyDplct"
CREATED = "CreDt"
NAME = "MsgDefIdr"
_TCH = "urn:tch"
_DIRECTIONS = ("Incoming", "Outgoing")


class Envelope(NamedTuple):
    """A message in its envelope. `wrapper` is what the network calls the message; `name` the
    message's own with its version: pacs.008.001.08."""

    root: Element
    header: Element
    wrapper: str
    message: Element
    name: str


def header_leaves(name: str) -> tuple[Leaf, ...]:
    """The leaves of the header of a message of this name."""
    return (
        Leaf("Fr/FIId/FinInstnId/ClrSysMmbId/MmbId", kinds.ID, "sender"),
        Leaf("To/FIId/FinInstnId/ClrSysMmbId/MmbId", kinds.ID, "receiver"),
        Leaf("BizMsgIdr", kinds.ID, "business_id"),
        fixed(NAME, name),
        Leaf(CREATED, kinds.MOMENT, "created_at"),
        optional(Leaf(DUPLICATE, kinds.DUPLICATE, "is_duplicate")),
    )


def header_namespace(profile: Profile) -> str:
    return f"{ISO}head.001.{profile.header_version}"


def closed(
    wrapper: str, root: str, name: str, *, profile: Profile, is_from_operator: bool
) -> Envelope:
    """An envelope around a header and a message that say nothing yet."""
    if profile is RTP:
        return _rtp(wrapper, root, name)
    return _fednow(wrapper, root, name, _DIRECTIONS[is_from_operator])


def _rtp(wrapper: str, root: str, name: str) -> Envelope:
    message_namespace = f"{ISO}{name}"
    spellings = {None: _TCH, "head": header_namespace(RTP), "m": message_namespace}
    envelope = etree.Element(f"{{{_TCH}}}Message", nsmap=spellings)
    header = etree.SubElement(envelope, f"{{{_TCH}}}AppHdr")
    body = etree.SubElement(envelope, f"{{{_TCH}}}{wrapper}")
    message = etree.SubElement(body, f"{{{message_namespace}}}{root}")
    return Envelope(envelope, header, wrapper, message, name)


def _fednow(wrapper: str, root: str, name: str, direction: str) -> Envelope:
    namespace = _fednow_namespace(direction)
    head, iso = header_namespace(FEDNOW), f"{ISO}{name}"
    envelope = etree.Element(f"{{{namespace}}}FedNow{direction}", nsmap={None: namespace})
    inner = etree.SubElement(envelope, f"{{{namespace}}}FedNow{direction}Message")
    body = etree.SubElement(inner, f"{{{namespace}}}{wrapper}")
    header = etree.SubElement(body, f"{{{head}}}AppHdr", nsmap={None: head})
    document = etree.SubElement(body, f"{{{iso}}}Document", nsmap={None: iso})
    message = etree.SubElement(document, f"{{{iso}}}{root}")
    return Envelope(envelope, header, wrapper, message, name)


def _fednow_namespace(direction: str) -> str:
    return f"urn:fednow:{direction.lower()}:v001"


def opened(root: Element, profile: Profile) -> Envelope:
    """The parts of an envelope. Raises Unreadable if it is not the network's."""
    header, body, message = _parts_of_rtp(root) if profile is RTP else _parts_of_fednow(root)
    namespace = etree.QName(message).namespace or ""
    if not namespace.startswith(ISO):
        raise Unreadable("message_unsupported")
    wrapper = etree.QName(body).localname
    return Envelope(root, header, wrapper, message, namespace.removeprefix(ISO))


def _parts_of_rtp(root: Element) -> tuple[Element, Element, Element]:
    if root.tag != f"{{{_TCH}}}Message" or len(root) != 2:
        raise Unreadable("envelope_unknown")
    header, body = root
    if header.tag != f"{{{_TCH}}}AppHdr" or len(body) != 1:
        raise Unreadable("envelope_unknown")
    return header, body, body[0]


def _parts_of_fednow(root: Element) -> tuple[Element, Element, Element]:
    """A technical header may stand before the message, and says nothing of it."""
    for direction in _DIRECTIONS:
        namespace = _fednow_namespace(direction)
        if root.tag == f"{{{namespace}}}FedNow{direction}":
            break
    else:
        raise Unreadable("envelope_unknown")
    body = root.find(f"{{{namespace}}}FedNow{direction}Message/*")
    header = None if body is None else body.find(f"{{{header_namespace(FEDNOW)}}}AppHdr")
    document = None if body is None else body.find("{*}Document")
    if header is None or document is None or len(document) != 1:
        raise Unreadable("envelope_unknown")
    return header, body, document[0]
