"""What reading yields: records with their lines, and faults."""

from __future__ import annotations

from typing import NamedTuple

from networks.ach.nacha.faults import Fault, Scope, characters, fault, invalid_field
from networks.ach.nacha.layout import RECORD_LENGTH, Layout, R
from networks.ach.nacha.records import (
    Addenda,
    BatchControl,
    BatchHeader,
    EntryDetail,
    FileControl,
    FileHeader,
)


class Item(NamedTuple):
    """A record that was read. An entry has its addenda, and the faults of all its records."""

    line: int
    record: FileHeader | BatchHeader | EntryDetail | BatchControl | FileControl
    addenda: tuple[Addenda, ...] = ()
    faults: tuple[Fault, ...] = ()


Event = Item | Fault


def parse(layout: Layout[R], text: str) -> R | None:
    """The record, cut-off blanks put back, or None: then `why_not` says why."""
    return layout.read(text if len(text) == RECORD_LENGTH else text.ljust(RECORD_LENGTH))


def why_not(layout: Layout[R], line: int, text: str, scope: Scope) -> list[Fault]:
    """The faults that keep a record from being read: at least one."""
    for place, character in enumerate(text, start=1):
        if not " " <= character <= "~":
            return [characters(line, place, scope)]
    unreadable = layout.unreadable(text.ljust(RECORD_LENGTH))
    if len(text) < RECORD_LENGTH and layout.end_of(unreadable[-1]) > len(text):
        return [fault(line, "record_short", f"the record has {len(text)} characters")]
    return [invalid_field(line, name, scope) for name in unreadable]
