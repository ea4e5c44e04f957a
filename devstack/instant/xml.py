"""A small tree of XML: read with care, written plainly. The standard library's parser only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

BYTES_MAX = 1024 * 1024
DEPTH_MAX = 50


class NotXml(ValueError):
    """Content that is no XML that we take; the text says why."""


@dataclass
class Element:
    """An element by its namespace and local name. `text` is only its own."""

    namespace: str
    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def find(self, path: str) -> Element | None:
        """The first element at a path of local names such as `GrpHdr/MsgId`, in our namespace."""
        found: Element | None = self
        for name in path.split("/"):
            if found is None:
                return None
            found = next((each for each in found.children if each.name == name), None)
        return found

    def value(self, path: str) -> str:
        """The text at a path; empty where there is none."""
        found = self.find(path)
        return found.text.strip() if found is not None else ""

    def all(self, name: str) -> Iterator[Element]:
        """The children of this name."""
        return (each for each in self.children if each.name == name)


def read(content: bytes) -> Element:
    """The root. No document type, hence no entities; nothing is fetched. Raises NotXml."""
    if len(content) > BYTES_MAX:
        raise NotXml(f"more than {BYTES_MAX} bytes")
    builder = _Builder()
    parser = expat.ParserCreate("UTF-8", namespace_separator=" ")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = _refuse_document_type
    try:
        parser.Parse(content, True)
    except expat.ExpatError as problem:
        raise NotXml(str(problem)) from None
    return builder.root


class _Builder:
    def __init__(self) -> None:
        self._top = Element("", "")
        self._open = [self._top]

    @property
    def root(self) -> Element:
        return self._top.children[0]

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) > DEPTH_MAX:
            raise NotXml(f"more than {DEPTH_MAX} levels")
        namespace, _, local = name.rpartition(" ")
        element = Element(namespace, local, attributes)
        self._open[-1].children.append(element)
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop()

    def characters(self, text: str) -> None:
        self._open[-1].text += text


def _refuse_document_type(*_: object) -> None:
    raise NotXml("a document type")


@dataclass(frozen=True)
class Amount:
    """Cents of USD, as the text of an element."""

    cents: int


Fields = list[tuple[str, Any]]
"""Names of elements and what is in each: see `write`."""


def write(name: str, content: Any, *, prefix: str = "", attributes: str = "") -> str:
    """An element and what is in it: a text, an amount, or a list of names and contents. What is
    None or an empty text is left out."""
    tag = f"{prefix}{name}"
    if isinstance(content, Amount):
        amount = f"{content.cents // 100}.{content.cents % 100:02}"
        return f'<{tag} Ccy="USD">{amount}</{tag}>'
    if isinstance(content, str):
        return f"<{tag}{attributes}>{escape(content)}</{tag}>" if content else ""
    if content is None:
        return ""
    inner = "".join(write(each, value, prefix=prefix) for each, value in content)
    return f"<{tag}{attributes}>{inner}</{tag}>"


def attribute(name: str, value: str) -> str:
    return f" {name}={quoteattr(value)}"


def digest(element: Element) -> str:
    """What an element says, whatever its prefixes, order of attributes and white space between
    elements."""
    return hashlib.sha256("".join(_said(element)).encode()).hexdigest()


def _said(element: Element) -> Iterator[str]:
    yield f"<{element.namespace} {element.name} {sorted(element.attributes.items())}>"
    yield element.text if not element.children else element.text.strip()
    for child in element.children:
        yield from _said(child)
    yield "</>"
