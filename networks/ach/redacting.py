"""A file of ours for people to read: every byte as it was sent, but for account numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from networks.ach.nacha import layout
from networks.ach.nacha.layout import RECORD_LENGTH

MASK = "*"
SHOWN_DIGITS = 4
_ENTRY, _CHANGE = "6", "798"
# Where the account number of an entry and the corrected data of a change stand, from 0.
_ACCOUNT_END = layout.ENTRY_DETAIL.end_of("dfi_account_number")
_CORRECTED_END = layout.ADDENDA_98.end_of("corrected_data")
ACCOUNT = slice(_ACCOUNT_END - 17, _ACCOUNT_END)
CORRECTED = slice(_CORRECTED_END - 29, _CORRECTED_END)


def redacted(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """`pieces` of a file with its account numbers masked up to their last four characters, and the
    corrected data of changes whole. Line ends stay as they are."""
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).splitlines(keepends=True) or [b""]
        yield b"".join(map(_masked, lines))
    if rest:
        yield _masked(rest)


def _masked(line: bytes) -> bytes:
    text = line.decode("latin-1")
    return "".join(
        _masked_record(text[start : start + RECORD_LENGTH])
        for start in range(0, len(text), RECORD_LENGTH)
    ).encode("latin-1")


def _masked_record(record: str) -> str:
    if record.startswith(_ENTRY):
        return _with(record, ACCOUNT, masked_number(record[ACCOUNT]))
    if record.startswith(_CHANGE):
        return _with(record, CORRECTED, MASK * len(record[CORRECTED]))
    return record


def masked_number(number: str) -> str:
    """`  0012345678 ` → `  ******5678 `: as wide as it was."""
    bare = number.strip()
    shown = bare[-SHOWN_DIGITS:] if len(bare) > SHOWN_DIGITS else ""
    return number.replace(bare, MASK * (len(bare) - len(shown)) + shown, 1) if bare else number


def _with(record: str, place: slice, text: str) -> str:
    return record[: place.start] + text + record[place.stop :]
