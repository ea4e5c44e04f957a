"""The kinds of fields: what may stand in one, how it is read and how it is written.

Numbers are right-justified and zero-filled, text is left-justified and blank-filled, dates are
YYMMDD and of this century. Reading takes any printable ASCII in text; writing only upper case.
Source: Nacha Operating Rules, Appendix Three (field requirements).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time
from typing import Any

_CENTURY = 2000
_DAY_OF_YEAR = "(?:00[1-9]|0[1-9][0-9]|[12][0-9][0-9]|3[0-5][0-9]|36[0-6]| {3})"


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field. `readable` and `writable` are patterns of its characters in the record.

    `value` and `text` turn those characters into the value and back; either raises ValueError.
    Without `value` the field is not in the record's tuple.
    """

    name: str
    width: int
    readable: str
    writable: str
    template: str
    value: Callable[[str], Any] | None = None
    text: Callable[[Any], Any] | None = None


def number(name: str, width: int) -> Field:
    pattern = f"[0-9]{{{width}}}"
    return Field(
        name=name,
        width=width,
        readable=pattern,
        writable=pattern,
        template=f"%0{width}d",
        value=int,
    )


def digits(name: str, width: int) -> Field:
    """Digits that are a name rather than a number: routing and trace numbers."""
    return _exactly(name, width, f"[0-9]{{{width}}}")


def code(name: str, width: int) -> Field:
    return _exactly(name, width, f"[0-9A-Z]{{{width}}}")


def text(name: str, width: int) -> Field:
    """Written, it does not begin with a blank, unless it is blank altogether."""
    return Field(
        name=name,
        width=width,
        readable=f"[ -~]{{{width}}}",
        writable=f"(?:[!-`{{-~][ -`{{-~]{{{width - 1}}}| {{{width}}})",
        template=f"%-{width}s",
        value=str.rstrip,
    )


def right(name: str, width: int) -> Field:
    """Text that is right-justified: the two banks of the file header."""
    return Field(
        name=name,
        width=width,
        readable=f"[ -~]{{{width}}}",
        writable=f" {{0,{width - 1}}}[!-`{{-~]+",
        template=f"%{width}s",
        value=str.strip,
    )


def day(name: str, *, blank: bool = True) -> Field:
    """A date, which may be left blank or not. Some banks write zeros for a blank."""
    pattern = "(?:[0-9]{6}| {6})" if blank else "[0-9]{6}"
    return Field(
        name=name,
        width=6,
        readable=pattern,
        writable=pattern,
        template="%-6s",
        value=_date_or_none if blank else _date,
        text=_date_text,
    )


def hour(name: str) -> Field:
    """A time of day, HHMM, or blank."""
    pattern = "(?:[0-9]{4}| {4})"
    return Field(
        name=name,
        width=4,
        readable=pattern,
        writable=pattern,
        template="%-4s",
        value=_time,
        text=_time_text,
    )


def day_of_year(name: str) -> Field:
    """A Julian date, 001 to 366, or blank."""
    return Field(
        name=name,
        width=3,
        readable=_DAY_OF_YEAR,
        writable=_DAY_OF_YEAR,
        template="%-3s",
        value=_day_of_year,
        text=_day_of_year_text,
    )


def always(name: str, characters: str) -> Field:
    """What stands there in every record."""
    return Field(
        name=name,
        width=len(characters),
        readable=characters,
        writable=characters,
        template=characters,
    )


def reserved(width: int) -> Field:
    """Written blank; what others put there is not read."""
    return Field(
        name="reserved",
        width=width,
        readable=f"[ -~]{{{width}}}",
        writable=f" {{{width}}}",
        template=" " * width,
    )


def _exactly(name: str, width: int, pattern: str) -> Field:
    return Field(
        name=name,
        width=width,
        readable=pattern,
        writable=pattern,
        template=f"%-{width}s",
        value=str,
    )


def _date_or_none(characters: str) -> date | None:
    return _date(characters) if characters.strip(" 0") else None


def _date(characters: str) -> date:
    return date(_CENTURY + int(characters[:2]), int(characters[2:4]), int(characters[4:]))


def _date_text(value: date | None) -> str:
    if value is None:
        return ""
    if not 0 <= value.year - _CENTURY < 100:
        raise ValueError("a date of another century")
    return f"{value:%y%m%d}"


def _time(characters: str) -> time | None:
    return None if characters.isspace() else time(int(characters[:2]), int(characters[2:]))


def _time_text(value: time | None) -> str:
    return "" if value is None else f"{value:%H%M}"


def _day_of_year(characters: str) -> int | None:
    return None if characters.isspace() else int(characters)


def _day_of_year_text(value: int | None) -> str:
    return "" if value is None else f"{value:03d}"
