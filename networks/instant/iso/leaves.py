"""The leaves of a message in the order in which they stand: where each is, and what it says.

One table of leaves both writes and reads a message, so that the two cannot say different things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from lxml import etree

from networks.instant.iso import kinds
from networks.instant.iso.documents import Element
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.kinds import Kind
from networks.instant.iso.messages import Header, Message
from networks.instant.iso.profiles import Profile


class Way(Enum):
    BOTH = auto()
    WRITTEN = auto()  # what it says stands elsewhere, too, or is of no use
    READ = auto()  # another spelling of a leaf before it


class Leaf(NamedTuple):
    """An element that holds a text. `path` is below the message's root: `GrpHdr/MsgId`.

    `source` names a field of the message (`debtor.name`), or of the header (`header.sender`). A
    leaf that says `fixed` needs none: with one, it stands where that field says something.
    """

    path: str
    kind: Kind
    source: str = ""
    way: Way = Way.BOTH
    is_optional: bool = False
    fixed: str = ""


class Said(NamedTuple):
    """What leaves are written from."""

    message: Message | Header
    header: Header

    def value(self, source: str) -> Any:
        if source.startswith("header."):
            return attrgetter(source.removeprefix("header."))(self.header)
        return attrgetter(source)(self.message)


def write(
    root: Element, leaves: Iterable[Leaf], said: Said, *, namespace: str, profile: Profile
) -> None:
    """Put the leaves below the root, in their namespace.

    Raises ValueError for a value that is missing or does not fit its leaf.
    """
    for leaf in leaves:
        if leaf.way is Way.READ:
            continue
        text = _text(leaf, said, profile)
        if text:
            element = _grown(root, _tags(namespace, leaf.path))
            element.text = text
            if leaf.kind.has_currency:
                element.set("Ccy", kinds.CURRENCY)


def _text(leaf: Leaf, said: Said, profile: Profile) -> str:
    value = said.value(leaf.source) if leaf.source else ""
    if leaf.fixed:
        return leaf.fixed if value or not leaf.source else ""
    text = "" if value in (None, "") else leaf.kind.write(value, profile)
    if not text and not leaf.is_optional:
        raise ValueError(f"{leaf.source} is missing")
    return text


def _grown(root: Element, tags: tuple[str, ...]) -> Element:
    """A new element at the end of the path, below the last ones of those on the way there."""
    element = root
    *above, last = tags
    for tag in above:
        former = element[-1] if len(element) else None
        is_open = former is not None and former.tag == tag
        element = former if is_open else etree.SubElement(element, tag)
    return etree.SubElement(element, last)


def read(
    root: Element, leaves: Iterable[Leaf], *, namespace: str, profile: Profile
) -> dict[str, Any]:
    """The values by their sources; what is not there is left out. Raises Unreadable."""
    values: dict[str, Any] = {}
    for leaf in leaves:
        if leaf.fixed or leaf.way is Way.WRITTEN or leaf.source in values:
            continue
        if (value := _found(root, leaf, namespace, profile)) is not None:
            values[leaf.source] = value
    _require(values, leaves)
    for leaf in leaves:
        if leaf.way is Way.WRITTEN and leaf.kind.has_currency:
            _require_same(values, leaf, _found(root, leaf, namespace, profile))
    return values


def _found(root: Element, leaf: Leaf, namespace: str, profile: Profile) -> Any:
    element = root.find("/".join(_tags(namespace, leaf.path)))
    text = "" if element is None else (element.text or "").strip()
    return _value(leaf, element, text, profile) if text else None


def _value(leaf: Leaf, element: Element, text: str, profile: Profile) -> Any:
    if leaf.kind.has_currency and element.get("Ccy") != kinds.CURRENCY:
        raise Unreadable("currency_unsupported", leaf.path)
    try:
        return leaf.kind.read(text, profile)
    except (ValueError, OverflowError):  # a year in which no time zone can be looked up
        raise Unreadable(leaf.kind.fault, leaf.path) from None


def _require(values: Mapping[str, Any], leaves: Iterable[Leaf]) -> None:
    for leaf in leaves:
        is_needed = leaf.way is Way.BOTH and not (leaf.fixed or leaf.is_optional)
        if is_needed and leaf.source not in values:
            raise Unreadable("element_missing", leaf.path)


def _require_same(values: Mapping[str, Any], leaf: Leaf, value: Any) -> None:
    """An amount that a message says twice has to be the same."""
    if value is not None and value != values[leaf.source]:
        raise Unreadable("amounts_differ", leaf.path)


@lru_cache(maxsize=1024)
def _tags(namespace: str, path: str) -> tuple[str, ...]:
    return tuple(f"{{{namespace}}}{name}" for name in path.split("/"))


def fixed(path: str, text: str, *, where: str = "") -> Leaf:
    """A leaf that always says the same, or does where another field says something."""
    return Leaf(path, kinds.CODE, where, fixed=text)


def optional(leaf: Leaf) -> Leaf:
    return leaf._replace(is_optional=True)


def written(leaf: Leaf) -> Leaf:
    return leaf._replace(way=Way.WRITTEN)
