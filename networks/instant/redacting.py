"""Messages for people to read: laid out in lines, account numbers masked up to their last four.

Those have their place in a message. One that cannot be read may have them anywhere: nothing stays
readable of what holds a digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from networks.instant.iso import documents
from networks.instant.iso.documents import Element
from networks.instant.iso.faults import Unreadable

MASK = "*"
SHOWN = 4
_WITH_DIGITS = re.compile(r"[^\s\d<>]*\d[^\s<>]*")


def masked(content: bytes, *, is_sound: bool) -> str:
    """The message without account numbers. `is_sound`: its elements are where they have to be."""
    try:
        root = documents.parsed(content)
    except Unreadable:
        is_sound = False
    if not is_sound:
        text = content.decode("utf-8", errors="replace")
        return _WITH_DIGITS.sub(lambda found: MASK * len(found[0]), text)
    numbers = {number for leaf in _numbers(root) if (number := (leaf.text or "").strip())}
    for leaf in root.iter(etree.Element):
        leaf.text = _without(leaf.text, numbers)
    return _laid_out(root)


def in_full(content: bytes) -> str:
    """The message as it is, laid out where it can be read."""
    try:
        return _laid_out(documents.parsed(content))
    except Unreadable:
        return content.decode("utf-8", errors="replace")


def _numbers(root: Element) -> Iterator[Element]:
    """The leaves that hold account numbers: the ids of accounts, in whatever scheme."""
    for account in root.iter(etree.Element):
        if etree.QName(account).localname.endswith("Acct"):
            yield from (leaf for leaf in account.iter("{*}Id", "{*}IBAN") if not len(leaf))


def _without(text: str | None, numbers: set[str]) -> str | None:
    """Whatever else repeats a number is masked as well, the longest first."""
    for number in sorted(numbers, key=len, reverse=True):
        if text and number in text:
            text = text.replace(number, _mask(number))
    return text


def _mask(number: str) -> str:
    shown = number[-SHOWN:] if len(number) > SHOWN else ""
    return MASK * (len(number) - len(shown)) + shown


def _laid_out(root: Element) -> str:
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return text
