"""Acknowledgments as JSON lines: the stand-in bank's (docs/stand-in-bank.md).

The first line is the file's, then come its batches and those of its entries about which there is
something to say. The last line says how many there are, so that half an acknowledgment is known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from networks.ach.acknowledgments.base import (
    REPEATED,
    Acknowledgment,
    Extent,
    Reason,
    Source,
    Unreadable,
    Verdict,
)
from networks.calendar import EASTERN

_CHUNK_BYTES = 1 << 16
_LINE_BYTES_MAX = 1 << 20
_TEXT_MAX = 300
_REASONS_MAX, _REASONS_OF_A_BATCH = 1_000, 10
_WARNINGS_MAX = 500
_BATCH_DIGITS, _TRACE_DIGITS, _AMOUNT_MAX = 7, 15, 10**12
_CODE = re.compile(r"[A-Za-z0-9_]{1,64}")
_REJECTED = "rejected"


def read(source: Source, extent_of: Callable[[str], Extent | None]) -> Acknowledgment:
    """The whole acknowledgment (see `base.Read`). Raises Unreadable, and OSError when `source`
    cannot be read."""
    found = _Found(extent_of)
    line = 0
    for line, text in enumerate(_lines(source), start=1):
        if found.is_over:
            raise Unreadable(line, "ack_order", "something follows the end")
        found.take(line, _parsed(line, text))
    if not found.is_over:
        raise Unreadable(line + 1, "ack_incomplete", "the acknowledgment does not end")
    return found.acknowledgment()


def _lines(source: Source) -> Iterator[bytes]:
    rest = b""
    number = 1
    while chunk := source.read(_CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line
            number += 1
        if len(rest) > _LINE_BYTES_MAX:
            raise Unreadable(number, "ack_line_long", "a line is too long")
    if rest.strip():
        yield rest


def _parsed(line: int, text: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(line, "ack_not_json", "the line is no JSON") from None
    if not isinstance(value, dict):
        raise Unreadable(line, "ack_not_json", "the line is no JSON object")
    return value


class _Found:
    """What the lines said so far. It grows with the file that was sent, not with its answer."""

    def __init__(self, extent_of: Callable[[str], Extent | None]) -> None:
        self._extent_of = extent_of
        self._extent = Extent(0, 0)
        self._codes: dict[str, str] = {}  # each once, however often it is said
        self.is_over = False
        self._file: Mapping[str, Any] | None = None
        self._batches: dict[int, tuple[Reason, ...]] = {}
        self._settles: dict[int, date] = {}
        self._entries: dict[str, str] = {}
        self._warnings: dict[str, str] = {}

    def take(self, line: int, value: Mapping[str, Any]) -> None:
        of_type = {"batch": self._batch, "entry": self._entry, "end": self._end}
        kind = value.get("type")
        if (kind == "file") != (self._file is None):
            raise Unreadable(line, "ack_order", "the first line, and no other, is the file's")
        if kind == "file":
            self._file = _checked_file(line, value)
            extent = self._extent_of(self._file["sha256"])
            if extent is None:
                raise Unreadable(line, "ack_file_unknown", "we sent no file with this digest")
            self._extent = extent
            return
        take = of_type.get(kind if isinstance(kind, str) else "")
        if take is None:
            raise Unreadable(line, "ack_type_unknown", "no such type of line")
        take(line, value)

    def acknowledgment(self) -> Acknowledgment:
        file = self._file
        if file is None:
            raise Unreadable(1, "ack_order", "no line is the file's")
        accepted = file["accepted"]
        return Acknowledgment(
            name=file["file"],
            sha256=file["sha256"],
            verdict=file["verdict"],
            reasons=file["reasons"],
            rejected_batches=self._batches,
            settles=self._settles,
            rejected_entries=self._entries,
            warnings=self._warnings,
            debit=accepted[0],
            credit=accepted[1],
            is_repeat=any(reason.code == REPEATED for reason in file["reasons"]),
        )

    def _batch(self, line: int, value: Mapping[str, Any]) -> None:
        verdict = _verdict(line, value)
        number = _text(line, value, "batch")
        if not (number.isascii() and number.isdecimal() and len(number) <= _BATCH_DIGITS):
            raise _invalid(line, "batch")
        if verdict is Verdict.REJECTED:
            self._batches[int(number)] = _reasons(line, value)[:_REASONS_OF_A_BATCH]
        elif (day := _settlement_day(line, value)) is not None:
            self._settles[int(number)] = day
        if max(len(self._batches), len(self._settles)) > self._extent.batches:
            raise Unreadable(line, "ack_batch_unknown", "the file has no such batch")

    def _entry(self, line: int, value: Mapping[str, Any]) -> None:
        trace = _text(line, value, "trace")
        if not (trace.isascii() and trace.isdecimal() and len(trace) == _TRACE_DIGITS):
            raise _invalid(line, "trace")
        if value.get("status") == _REJECTED:
            code = _text(line, value, "code")
            if not _CODE.fullmatch(code):
                raise _invalid(line, "code")
            self._entries[trace] = self._codes.setdefault(code, code)
            if len(self._entries) > self._extent.entries:
                raise Unreadable(line, "ack_entry_unknown", "the file has no such entry")
        if value.get("warning"):
            warning = _text(line, value, "warning")
            if len(self._warnings) < _WARNINGS_MAX:
                self._warnings[trace] = warning

    def _end(self, line: int, value: Mapping[str, Any]) -> None:
        if value.get("lines") != line:
            raise Unreadable(line, "ack_incomplete", "the number of lines differs")
        self.is_over = True


def _checked_file(line: int, value: Mapping[str, Any]) -> dict[str, Any]:
    sha256 = _text(line, value, "sha256").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise _invalid(line, "sha256")
    accepted = value.get("accepted")
    if not isinstance(accepted, dict):
        raise _invalid(line, "accepted")
    return {
        "file": _text(line, value, "file"),
        "sha256": sha256,
        "verdict": _verdict(line, value),
        "reasons": _reasons(line, value),
        "accepted": (_cents(line, accepted, "debit"), _cents(line, accepted, "credit")),
    }


def _verdict(line: int, value: Mapping[str, Any]) -> Verdict:
    word = value.get("verdict")
    if not isinstance(word, str) or word not in set(Verdict):
        raise _invalid(line, "verdict")
    return Verdict(word)


def _settlement_day(line: int, value: Mapping[str, Any]) -> date | None:
    """The banks' day on which the whole batch settles; None if the bank does not name one."""
    listed = value.get("settles_at", [])
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise _invalid(line, "settles_at")
    try:
        instants = [datetime.fromisoformat(each) for each in listed]
        is_sound = all(each.tzinfo is not None for each in instants)
        days = {each.astimezone(EASTERN).date() for each in instants}
    except (ValueError, OverflowError):
        raise _invalid(line, "settles_at") from None
    if not is_sound:
        raise _invalid(line, "settles_at")
    return days.pop() if len(days) == 1 else None


def _reasons(line: int, value: Mapping[str, Any]) -> tuple[Reason, ...]:
    listed = value.get("reasons")
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise _invalid(line, "reasons")
    return tuple(
        Reason(_number(line, each, "line"), _text(line, each, "code"), _text(line, each, "detail"))
        for each in listed[:_REASONS_MAX]
    )


def _text(line: int, value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or len(text) > _TEXT_MAX or not text.isprintable():
        raise _invalid(line, name)
    return text


def _number(line: int, value: Mapping[str, Any], name: str) -> int:
    number = value.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < _AMOUNT_MAX:
        raise _invalid(line, name)
    return number


_cents = _number


def _invalid(line: int, name: str) -> Unreadable:
    return Unreadable(line, f"ack_{name}_invalid", f"the {name} cannot be read")
