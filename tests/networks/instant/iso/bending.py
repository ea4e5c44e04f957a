"""Bends a good message: another text here, an element less or more there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree

Bend = Callable[[Any], None]


def bent(content: bytes, *bends: Bend) -> bytes:
    root = etree.fromstring(content)
    for bend in bends:
        bend(root)
    said: bytes = etree.tostring(root)
    return said


def says(name: str, text: str, *, number: int = 0) -> Bend:
    """The element of this name, one of several, says something else."""

    def bend(root: Any) -> None:
        _found(root, name, number).text = text

    return bend


def without(name: str, *, number: int = 0) -> Bend:
    def bend(root: Any) -> None:
        element = _found(root, name, number)
        element.getparent().remove(element)

    return bend


def twice(name: str, *, number: int = 0) -> Bend:
    def bend(root: Any) -> None:
        element = _found(root, name, number)
        element.addnext(etree.fromstring(etree.tostring(element)))

    return bend


def marked(name: str, attribute: str, value: str | None, *, number: int = 0) -> Bend:
    """The element has another attribute, or none."""

    def bend(root: Any) -> None:
        element = _found(root, name, number)
        if value is None:
            del element.attrib[attribute]
        else:
            element.set(attribute, value)

    return bend


def _found(root: Any, name: str, number: int) -> Any:
    return root.findall(f".//{{*}}{name}")[number]
