"""The fields of a record, one after the other, over all its continuations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

_DATE = re.compile(r"[0-9]{6}", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,9}", re.ASCII)
_CENTURY = 2000


class BadField(ValueError):
    """A field that cannot be read. `code` names the fault."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Fields:
    """A cursor. Fields that the bank left out at the end are empty."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces
        self._at = 0
        self._fields = pieces[0].split(",")
        self._next = 0

    @property
    def is_over(self) -> bool:
        return self._next >= len(self._fields) and self._at + 1 >= len(self._pieces)

    def take(self) -> str:
        """The next field, without blanks around it."""
        if self._next >= len(self._fields):
            if self._at + 1 >= len(self._pieces):
                return ""
            self._at += 1
            self._fields = self._pieces[self._at].split(",")
            self._next = 0
        field = self._fields[self._next]
        self._next += 1
        return field.strip(" ")

    def rest(self) -> str:
        """Everything that follows, as the text that it is: commas belong to it, continuations go on
        behind a blank."""
        parts = [",".join(self._fields[self._next :]), *self._pieces[self._at + 1 :]]
        self._at, self._next = len(self._pieces), len(self._fields)
        return " ".join(stripped for part in parts if (stripped := part.strip(" ")))


def day(text: str) -> date:
    """YYMMDD, of this century. Raises BadField."""
    if _DATE.fullmatch(text):
        try:
            return date(_CENTURY + int(text[:2]), int(text[2:4]), int(text[4:]))
        except ValueError:
            pass
    raise BadField("date_invalid")


def count(text: str, code: str) -> int:
    """A number without a sign. Raises BadField with `code`."""
    if not _COUNT.fullmatch(text):
        raise BadField(code)
    return int(text)
