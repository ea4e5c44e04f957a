"""Judges messages by schemas: by ours of a network, or by those of a folder that an operator has.

What is wrong is named by our faults and by an element. The library's own sentences quote what the
message says, which may be an account's number.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from networks.instant.iso.documents import Element
from networks.instant.iso.envelopes import ISO
from networks.instant.iso.faults import Unreadable
from networks.instant.iso.profiles import Profile

OURS = Path(__file__).with_name("schemas")
_HEADER = f"{ISO}head."
_SCHEMA = "{http://www.w3.org/2001/XMLSchema}schema"
_SAID = re.compile(r"Element '(?:\{[^}']*\})?([^']+)'(?:, attribute '([^']+)')?")
_MOMENTS = re.compile(r".*(?:Tm|Dt)")
_AMOUNTS = re.compile(r".*Amt")
_DECIMALS = re.compile(r".*The value '[0-9]+[.][0-9]{3,}'", re.ASCII)

# What the library calls a fault, and what we do; those that depend on more are in `_named`.
_NAMES = {
    "CVC_ELT_1": "envelope_unknown",
    "CVC_MAXLENGTH_VALID": "value_too_long",
    "CVC_MININCLUSIVE_VALID": "amount_malformed",
    "CVC_ENUMERATION_VALID": "value_unknown",
}
_OF_VALUES = frozenset(
    ("CVC_PATTERN_VALID", "CVC_MINLENGTH_VALID", "CVC_DATATYPE_VALID_1_2_1", "CVC_LENGTH_VALID")
)


class SchemasRefused(ValueError):
    """Schemas that cannot be used. The text says which, and what to do."""


class SchemaFault(NamedTuple):
    fault: str
    element: str


class Schemas:
    """The schemas of a folder and of those in it, compiled when they are first needed."""

    def __init__(self, folder: Path) -> None:
        """Raises SchemasRefused if the folder has none."""
        self._schemas: dict[str, list[_Schema]] = {}
        for path in sorted(folder.rglob("*.xsd")):
            if namespace := _target(path):  # without one it is a part of others
                self._schemas.setdefault(namespace, []).append(_Schema(path))
        if not self._schemas:
            raise SchemasRefused(f"{folder} has no schemas: name a folder with .xsd files.")

    def has(self, element: Element) -> bool:
        """Whether there is a schema for this very element."""
        return bool(self._of(element))

    def faults(self, root: Element) -> list[SchemaFault] | None:
        """What is wrong with a message, or None if there is no schema for it.

        A schema of the envelope judges the whole. Where there is none, header and document are
        judged each by its own. Of several for the same namespace the kindest counts: networks have
        one for each of a message's uses. Raises SchemasRefused.
        """
        if self.has(root):
            return self._kindest(root)
        parts = [each for each in _parts(root) if self.has(each)]
        if not any(map(_is_message, parts)):
            return None
        return [fault for part in parts for fault in self._kindest(part)]

    def _of(self, element: Element) -> list[_Schema]:
        return self._schemas.get(etree.QName(element).namespace or "", [])

    def _kindest(self, element: Element) -> list[SchemaFault]:
        return min((schema.faults(element) for schema in self._of(element)), key=len)


class _Schema:
    """One schema. Its list of errors is of whoever asked last, which is why it serves one at a
    time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._compiled: Element | None = None

    def faults(self, element: Element) -> list[SchemaFault]:
        with self._lock:
            if self._compiled is None:
                self._compiled = _compiled(self._path)
            if self._compiled.validate(element):
                return []
            return [_named(error.type_name, error.message) for error in self._compiled.error_log]


@lru_cache
def ours(profile: Profile) -> Schemas:
    return Schemas(OURS / profile.name)


def require_valid(root: Element, profile: Profile) -> None:
    """Raises Unreadable for a message in its envelope that our schemas do not allow."""
    found = ours(profile).faults(root)
    if found is None:
        raise Unreadable("envelope_unknown")
    if found:
        raise Unreadable(found[0].fault, found[0].element)


def name_of(root: Element) -> str:
    """What a message calls itself by its namespace (pacs.008.001.08); empty if it does not."""
    names = (etree.QName(each).namespace or "" for each in root.iter())
    found = (each for each in names if each.startswith(ISO) and not each.startswith(_HEADER))
    return next(found, "").removeprefix(ISO)


def _parts(root: Element) -> Iterator[Element]:
    """The header, and the document or the message: the first elements of their namespaces."""
    seen = {etree.QName(root).namespace}
    for element in root.iter():
        namespace = etree.QName(element).namespace or ""
        if namespace.startswith(ISO) and namespace not in seen:
            seen.add(namespace)
            yield element


def _is_message(element: Element) -> bool:
    return not (etree.QName(element).namespace or "").startswith(_HEADER)


def _target(path: Path) -> str:
    namespace: str = _schema_tree(path).getroot().get("targetNamespace", "")
    return namespace


def _schema_tree(path: Path) -> Element:
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        tree = etree.parse(path, parser)
    except (etree.XMLSyntaxError, OSError):
        raise SchemasRefused(
            f"{path} cannot be read: give the schema as it was published."
        ) from None
    if tree.getroot().tag != _SCHEMA:
        raise SchemasRefused(f"{path} is no schema: take it out of the folder.")
    return tree


def _compiled(path: Path) -> Element:
    try:
        return etree.XMLSchema(_schema_tree(path))
    except etree.XMLSchemaParseError:
        raise SchemasRefused(
            f"{path} cannot be used alone: put the schemas that it includes where it says."
        ) from None


def _named(kind: str, sentence: str) -> SchemaFault:
    """The fault and its element, out of the library's name for it and of its sentence."""
    found = _SAID.match(sentence)
    element = found[1] if found else ""
    short = kind.removeprefix("SCHEMAV_")
    if short == "CVC_COMPLEX_TYPE_4" or (found and found[2] == "Ccy"):  # the only one we need
        return SchemaFault("currency_unsupported", element)
    if short == "ELEMENT_CONTENT":
        is_missing = "Missing child element" in sentence
        return SchemaFault("element_missing" if is_missing else "element_unexpected", element)
    if short in _OF_VALUES:
        return SchemaFault(_of_value(element, sentence), element)
    return SchemaFault(_NAMES.get(short, "element_unexpected"), element)


def _of_value(element: str, sentence: str) -> str:
    if _AMOUNTS.fullmatch(element):
        return "amount_decimals" if _DECIMALS.match(sentence) else "amount_malformed"
    return "moment_malformed" if _MOMENTS.fullmatch(element) else "value_malformed"
