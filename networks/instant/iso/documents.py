"""Bytes into elements and back, within bounds that nothing from outside gets around.

A document type, and with it every entity, is refused before the parser sees it; nothing is fetched
from anywhere; size and depth are bounded. The canonical form (C14N 1.0, without comments) is what
is sent, kept, and compared.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from networks.instant.iso.faults import Unreadable

BYTES_MAX = 1 << 20
DEPTH_MAX = 50
_DOCTYPE = b"<!DOCTYPE"
_DECLARED = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([^"'>]*)""")
_ENCODINGS = frozenset((b"utf-8", b"us-ascii", b"ascii"))

Element = Any  # lxml has no types


def parsed(content: bytes) -> Element:
    """The root of a message. Raises Unreadable."""
    _require_bounds(content)
    try:
        root = etree.fromstring(content, _parser())
    except (etree.XMLSyntaxError, ValueError):
        raise Unreadable("xml_malformed") from None
    _require_depth(root)
    return root


def canonical(content: bytes) -> bytes:
    """The one form of all spellings of a message. Raises Unreadable."""
    return canonical_of(parsed(content))


def canonical_of(root: Element) -> bytes:
    """Raises Unreadable for a name space that is no whole address, which has no such form."""
    try:
        text: bytes = etree.tostring(root, method="c14n", with_comments=False)
    except etree.C14NError:
        raise Unreadable("xml_malformed") from None
    return text


def _parser() -> Element:
    """A parser of its own for each message: they keep the errors of the message before."""
    return etree.XMLParser(
        encoding="utf-8",  # whatever the message declares
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        remove_blank_text=True,
    )


def _require_bounds(content: bytes) -> None:
    if len(content) > BYTES_MAX:
        raise Unreadable("too_large")
    declared = _DECLARED.match(content)
    if b"\0" in content[:4] or (declared and declared[1].lower() not in _ENCODINGS):
        raise Unreadable("encoding_unsupported")
    if _DOCTYPE in content:
        raise Unreadable("doctype_refused")


def _require_depth(root: Element) -> None:
    depth = 0
    for event, _element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > DEPTH_MAX:
            raise Unreadable("xml_too_deep")
