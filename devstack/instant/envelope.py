"""The envelope of a message: its header and its document, as each network wraps them.

RTP       Message (urn:tch) with AppHdr and one element for the kind of message
FedNow    FedNowIncoming to the operator, FedNowOutgoing from it; in it FedNowIncomingMessage, an
          element for the kind of message, and there AppHdr and Document
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from devstack.instant import xml
from devstack.instant.profiles import BadMoment, Profile
from devstack.instant.xml import Element, Fields

TCH = "urn:tch"
INCOMING = "urn:fednow:incoming:v001"
OUTGOING = "urn:fednow:outgoing:v001"
_MEMBER = "FIId/FinInstnId/ClrSysMmbId/MmbId"


class Unreadable(ValueError):
    """Content that is no message of the network. `reason` is one word."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True)
class Header:
    sender: str
    receiver: str
    business_id: str
    name: str
    """Of the message, with its version."""
    created_at: datetime
    is_duplicate: bool = False


@dataclass(frozen=True)
class Message:
    """A message that was read: its kind (`pacs.008`), its header and its body, the element below
    the document. `digest` is of the body, so that a marked duplicate has the same."""

    kind: str
    header: Header
    body: Element
    digest: str


def read(content: bytes, profile: Profile) -> Message:
    """Raises Unreadable."""
    try:
        root = xml.read(content)
    except xml.NotXml as problem:
        raise Unreadable("not_xml", str(problem)) from None
    head, wrapper, body = _rtp_parts(root) if profile.is_rtp else _fednow_parts(root)
    header = _header(head, profile)
    kind, _, version = header.name[:8], header.name[8:9], header.name[9:]
    if profile.versions.get(kind) != version:
        raise Unreadable("message_unknown", f"{profile.title} has no message {header.name!r}")
    if wrapper != profile.wrappers[kind]:
        raise Unreadable("wrapper", f"{wrapper!r} is not what {kind} is wrapped in")
    if body.namespace != profile.namespace(kind):
        raise Unreadable("namespace", f"{body.namespace!r} is not that of {header.name}")
    return Message(kind, header, body, xml.digest(body))


def _rtp_parts(root: Element) -> tuple[Element, str, Element]:
    """AppHdr, the name of the wrapper, and the one element in it."""
    if (root.namespace, root.name) != (TCH, "Message") or len(root.children) != 2:
        raise Unreadable("envelope", "the root is not a Message of urn:tch with two parts")
    head, wrapper = root.children
    if head.name != "AppHdr" or wrapper.namespace != TCH or len(wrapper.children) != 1:
        raise Unreadable("envelope", "a Message has an AppHdr and one message")
    return head, wrapper.name, wrapper.children[0]


def _fednow_parts(root: Element) -> tuple[Element, str, Element]:
    if (root.namespace, root.name) != (INCOMING, "FedNowIncoming"):
        raise Unreadable("envelope", "the root is not a FedNowIncoming")
    messages = root.find("FedNowIncomingMessage")
    if messages is None or len(messages.children) != 1:
        raise Unreadable("envelope", "a FedNowIncomingMessage has one message")
    (wrapper,) = messages.children
    head, document = wrapper.find("AppHdr"), wrapper.find("Document")
    if head is None or document is None or len(document.children) != 1:
        raise Unreadable("envelope", "a message has an AppHdr and a Document")
    return head, wrapper.name, document.children[0]


def _header(head: Element, profile: Profile) -> Header:
    if any(each.namespace != profile.header for each in head.children):
        raise Unreadable("header", f"the header is not of {profile.header}")
    try:
        created_at = profile.read(head.value("CreDt"))
    except BadMoment as problem:
        raise Unreadable("header", str(problem)) from None
    return Header(
        sender=_needed(head, f"Fr/{_MEMBER}"),
        receiver=_needed(head, f"To/{_MEMBER}"),
        business_id=_needed(head, "BizMsgIdr"),
        name=_needed(head, "MsgDefIdr"),
        created_at=created_at,
        is_duplicate=head.value("CpyDplct") == "DUPL",
    )


def _needed(head: Element, path: str) -> str:
    value = head.value(path)
    if not value:
        raise Unreadable("header", f"{path} is missing")
    return value


def write(kind: str, body: Fields, header: Header, profile: Profile) -> bytes:
    """The message as a participant gets it."""
    text = (
        _rtp(kind, body, header, profile)
        if profile.is_rtp
        else _fednow(kind, body, header, profile)
    )
    return text.encode()


def _rtp(kind: str, body: Fields, header: Header, profile: Profile) -> str:
    spaces = (
        xml.attribute("xmlns", TCH)
        + xml.attribute("xmlns:head", profile.header)
        + xml.attribute("xmlns:m", profile.namespace(kind))
    )
    head = "".join(
        xml.write(name, content, prefix="head:")
        for name, content in _header_fields(header, profile)
    )
    inner = "".join(xml.write(name, content, prefix="m:") for name, content in body)
    wrapper = profile.wrappers[kind]
    return f"<Message{spaces}><AppHdr>{head}</AppHdr><{wrapper}>{inner}</{wrapper}></Message>"


def _fednow(kind: str, body: Fields, header: Header, profile: Profile) -> str:
    head = xml.write(
        "AppHdr", _header_fields(header, profile), attributes=xml.attribute("xmlns", profile.header)
    )
    namespace = xml.attribute("xmlns", profile.namespace(kind))
    document = xml.write("Document", body, attributes=namespace)
    wrapper = profile.wrappers[kind]
    return (
        f"<FedNowOutgoing{xml.attribute('xmlns', OUTGOING)}><FedNowOutgoingMessage>"
        f"<{wrapper}>{head}{document}</{wrapper}></FedNowOutgoingMessage></FedNowOutgoing>"
    )


def _header_fields(header: Header, profile: Profile) -> Fields:
    return [
        ("Fr", _member(header.sender)),
        ("To", _member(header.receiver)),
        ("BizMsgIdr", header.business_id),
        ("MsgDefIdr", header.name),
        ("CreDt", profile.written(header.created_at)),
        ("CpyDplct", "DUPL" if header.is_duplicate else None),
    ]


def _member(member: str) -> Fields:
    return [("FIId", [("FinInstnId", [("ClrSysMmbId", [("MmbId", member)])])])]
