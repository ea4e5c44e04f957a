"""Checks a folder of messages by schemas, each file for itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from networks.instant.iso import documents, validation
from networks.instant.iso.documents import Element
from networks.instant.iso.faults import SENTENCES, Unreadable
from networks.instant.iso.profiles import PROFILES
from networks.instant.iso.validation import SchemaFault, Schemas

NO_SCHEMA = SchemaFault("schema_missing", "")
_NO_SCHEMA_SENTENCE = "No schema that was given is for this message"


class Checked(NamedTuple):
    """One file. `name` is that of the message (pacs.008.001.08), empty if it has none."""

    file: str
    name: str
    faults: tuple[SchemaFault, ...]

    @property
    def is_valid(self) -> bool:
        return not self.faults


def check(folder: Path, schemas: Schemas | None) -> Iterator[Checked]:
    """Every .xml file of a folder and of those in it, by these schemas or by ours.

    Raises OSError and validation.SchemasRefused.
    """
    for path in sorted(folder.rglob("*.xml")):
        with path.open("rb") as file:
            content = file.read(documents.BYTES_MAX + 1)
        yield _checked(path.relative_to(folder), content, schemas)


def sentence(fault: SchemaFault) -> str:
    """What is wrong, and where, for people."""
    words = SENTENCES.get(fault.fault, _NO_SCHEMA_SENTENCE)
    return f"{words} ({fault.element})." if fault.element else f"{words}."


def _checked(path: Path, content: bytes, schemas: Schemas | None) -> Checked:
    try:
        root = documents.parsed(content)
    except Unreadable as error:
        return Checked(str(path), "", (SchemaFault(error.fault, error.where),))
    return Checked(str(path), validation.name_of(root), _faults(root, schemas))


def _faults(root: Element, schemas: Schemas | None) -> tuple[SchemaFault, ...]:
    """Of our schemas, those of the network whose envelope it is."""
    ours = map(validation.ours, PROFILES.values())
    judge = schemas or next((each for each in ours if each.has(root)), None)
    faults = judge.faults(root) if judge else None
    return (NO_SCHEMA,) if faults is None else tuple(faults)
