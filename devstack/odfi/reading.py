"""Cuts the bytes of a file into records of 94 characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from devstack.odfi.layouts import BLOCK, RECORD

LOOK = RECORD + 2
LINE_MAX = 200


class Unreadable(Exception):
    """The file has no records of the right size. `line` counts from 1."""

    def __init__(self, line: int, code: str, detail: str) -> None:
        super().__init__(f"line {line}: {code}: {detail}")
        self.line, self.code, self.detail = line, code, detail


def records(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Each record with its line. Lines may end in LF or CRLF, or the file is one unbroken string.

    The bank takes no record that is short or long, and no block that is not full. Raises
    Unreadable.
    """
    head = stream.read(LOOK)
    stream.seek(0)
    if not head:
        raise Unreadable(1, "unreadable", "the file is empty")
    cut = _lines(stream) if b"\n" in head else _string(stream)
    line = 0
    for line, raw in enumerate(cut, start=1):
        if len(raw) != RECORD:
            raise Unreadable(line, "record_size_wrong", f"{len(raw)} characters")
        yield line, raw.decode("latin-1")
    if line % BLOCK:
        raise Unreadable(line, "block_size_wrong", f"{line} records are no whole blocks")


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while raw := stream.readline(LINE_MAX):
        yield raw.removesuffix(b"\n").removesuffix(b"\r")


def _string(stream: BinaryIO) -> Iterator[bytes]:
    while raw := stream.read(RECORD):
        if raw in {b"\n", b"\r\n"}:  # the one line end of an unbroken string
            return
        yield raw
