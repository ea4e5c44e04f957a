"""Bytes into records: a record and the continuations (88) that belong to it.

What banks do: lines that end with LF or CRLF, the last one without an end, trailing blanks, empty
lines, or physical records of one length without line ends, as the file header announces it. One
logical record is in memory, whatever the file holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from networks.bank_statements.source import LINES_MAX, Chunks

RECORD_BYTES_MAX = 1 << 14  # of a physical record
RECORD_CHARACTERS_MAX = 1 << 16  # of a record with its continuations
RECORDS_MAX = 4 * LINES_MAX
CONTINUATION = "88"
# The file header up to its seventh field, the length of physical records.
_LENGTH = re.compile(rb"01(?:,[^,/\n]{0,100}){5},([0-9]{2,4}),")
_CODE_LENGTH = 2
_BLANKS = b" \r\n"


class Unframed(Exception):
    """What follows cannot be divided into records. `code` names the fault."""

    def __init__(self, position: int, code: str) -> None:
        super().__init__(code)
        self.position = position
        self.code = code


class Record(NamedTuple):
    """A logical record: the physical one at `position`, counted from 1, with its continuations.

    `pieces` are their fields as text, without the record's code and the slash that ends them.
    `size` is how many physical records there are.
    """

    position: int
    code: str
    pieces: list[str]

    @property
    def size(self) -> int:
        return len(self.pieces)


def records(chunks: Chunks) -> Iterator[Record]:
    """Raises Unframed and source.TooLarge."""
    record: Record | None = None
    characters = 0
    for position, text in texts(chunks):
        code, piece = text[:_CODE_LENGTH], _piece(text)
        characters += len(text)
        if code == CONTINUATION and record:
            if characters > RECORD_CHARACTERS_MAX:
                raise Unframed(position, "record_long")
            record.pieces.append(piece)
            continue
        if record:
            yield record
        record, characters = Record(position, code, [piece]), len(text)
    if record:
        yield record


def _piece(text: str) -> str:
    """The fields of a physical record. A slash ends them; without one, a text goes on to its
    end."""
    return text[_CODE_LENGTH:].removeprefix(",").removesuffix("/")


def texts(chunks: Chunks) -> Iterator[tuple[int, str]]:
    """Physical records that are not empty, each with its number. Raises Unframed and
    source.TooLarge."""
    position = 0
    for data in _physical(chunks):
        stripped = data.rstrip(b" \r")
        if not stripped:
            continue
        position += 1
        if position > RECORDS_MAX:
            raise Unframed(position, "too_many_lines")
        if len(stripped) > RECORD_BYTES_MAX:
            raise Unframed(position, "record_long")
        try:
            text = stripped.decode()
        except UnicodeDecodeError:
            raise Unframed(position, "characters") from None
        if not text.isprintable():
            raise Unframed(position, "characters")
        yield position, text


def _physical(chunks: Chunks) -> Iterator[bytes]:
    length = _announced_length(chunks.start)
    rest = b""
    while chunk := chunks.read():
        rest += chunk
        if length:
            whole = len(rest) - len(rest) % length
            yield from (rest[place : place + length] for place in range(0, whole, length))
            rest = rest[whole:]
            continue
        if not rest.strip(_BLANKS):  # a flood of empty lines
            rest = b""
        *lines, rest = rest.split(b"\n")
        yield from lines
        if len(rest) > RECORD_BYTES_MAX:
            break
    if rest:
        yield rest


def _announced_length(start: bytes) -> int:
    """The length of physical records, if they have one and no line ends; otherwise 0."""
    found = _LENGTH.match(start)
    length = int(found[1]) if found else 0
    is_unbroken = length and b"\n" not in start[: length + 2] and len(start) > length
    return length if is_unbroken else 0
