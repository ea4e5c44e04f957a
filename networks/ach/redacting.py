"""Files and records for people to read: every byte as it is, but for account numbers.

Those have their place in a record. One that is not as the layout has it may have them anywhere,
because a byte is missing or too many: nothing stays readable of what holds a digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from networks import routing
from networks.ach.nacha import layout
from networks.ach.nacha.entries import addenda_layout
from networks.ach.nacha.layout import RECORD_LENGTH

MASK = "*"
SHOWN_DIGITS = 4
_ENTRY, _ADDENDA, _CHANGE = "6", "7", "798"
# Where the account number of an entry and the corrected data of a change stand, from 0.
_ACCOUNT_END = layout.ENTRY_DETAIL.end_of("dfi_account_number")
_CORRECTED_END = layout.ADDENDA_98.end_of("corrected_data")
_BANK_END = layout.ENTRY_DETAIL.end_of("check_digit")
_BANK = slice(_BANK_END - 9, _BANK_END)
ACCOUNT = slice(_ACCOUNT_END - 17, _ACCOUNT_END)
CORRECTED = slice(_CORRECTED_END - 29, _CORRECTED_END)
_WITH_DIGITS = re.compile(r"[^\s\d]*\d\S*")


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
    if len(text.rstrip("\r\n")) % RECORD_LENGTH:
        return _without_digits(text).encode("latin-1")
    return "".join(
        _masked_record(text[start : start + RECORD_LENGTH])
        for start in range(0, len(text), RECORD_LENGTH)
    ).encode("latin-1")


def _masked_record(record: str) -> str:
    if record[:1] in {_ENTRY, _ADDENDA} and not _is_sound(record):
        return _without_digits(record)
    if record.startswith(_ENTRY):
        return _with(record, ACCOUNT, masked_number(record[ACCOUNT]))
    if record.startswith(_CHANGE):
        return _with(record, CORRECTED, MASK * len(record[CORRECTED]))
    return record


def _without_digits(record: str) -> str:
    """All but the type, with a sign for each character of what holds a digit."""
    return record[:1] + _WITH_DIGITS.sub(lambda found: MASK * len(found.group()), record[1:])


def _is_sound(record: str) -> bool:
    """Whether each field of an entry or addenda stands in its place."""
    form = layout.ENTRY_DETAIL if record.startswith(_ENTRY) else addenda_layout(record)
    if form is None or form.unreadable(record):
        return False
    return not record.startswith(_ENTRY) or routing.validate(record[_BANK])


def masked_number(number: str) -> str:
    """`  0012345678 ` → `  ******5678 `: as wide as it was."""
    bare = number.strip()
    shown = bare[-SHOWN_DIGITS:] if len(bare) > SHOWN_DIGITS else ""
    return number.replace(bare, MASK * (len(bare) - len(shown)) + shown, 1) if bare else number


def _with(record: str, place: slice, text: str) -> str:
    return record[: place.start] + text + record[place.stop :]
