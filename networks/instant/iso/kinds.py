"""How each kind of value is spelled in a message: from the value to its text, and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any, NamedTuple

from networks.instant.iso import clocks, texts
from networks.instant.iso.ids import LENGTH_MAX
from networks.instant.iso.profiles import EASTERN, Profile

CURRENCY = "USD"
_ROUTING_NUMBER_LENGTH = 9
_ACCOUNT_NUMBER_LENGTH_MAX = 34
_WORDS_MAX, _REMITTANCE_MAX = 105, 140
_UETR = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_AMOUNT = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,2}))?", re.ASCII)


class Kind(NamedTuple):
    """`write` and `read` raise ValueError; `fault` is what a text that cannot be read is called."""

    fault: str
    write: Callable[[Any, Profile], str]
    read: Callable[[str, Profile], Any]
    has_currency: bool = False


def _id(value: str, _profile: Profile) -> str:
    if not value.isascii() or len(value) > LENGTH_MAX:
        raise ValueError(f"an id has up to {LENGTH_MAX} characters of ASCII")
    return value


def _uetr(value: str, _profile: Profile) -> str:
    if not _UETR.fullmatch(value):
        raise ValueError("a UETR is a UUID of version 4 in small letters (ids.uetr makes one)")
    return value


def _account_number(value: str, _profile: Profile) -> str:
    if not value.isascii() or len(value) > _ACCOUNT_NUMBER_LENGTH_MAX:
        raise ValueError("an account number has up to 34 characters of ASCII")
    return value


def _routing_number(value: str, _profile: Profile) -> str:
    """Of a participant in a header: its first nine characters."""
    number = value[:_ROUTING_NUMBER_LENGTH]
    if len(number) != _ROUTING_NUMBER_LENGTH or not number.isdigit():
        raise ValueError("a routing number has nine digits")
    return number


def _same(text: str, _profile: Profile) -> str:
    return text


def _dollars(cents: int, _profile: Profile) -> str:
    if cents <= 0:
        raise ValueError("an amount is positive")
    return f"{cents // 100}.{cents % 100:02d}"


def _cents(text: str, _profile: Profile) -> int:
    found = _AMOUNT.fullmatch(text)
    cents = int(found[1]) * 100 + int((found[2] or "").ljust(2, "0")) if found else 0
    if cents <= 0:
        raise ValueError("this is no amount")
    return cents


def _end_of_day(text: str, _profile: Profile) -> datetime:
    """A day without a time lasts until its last second, Eastern time."""
    return datetime.combine(date.fromisoformat(text), time(23, 59, 59), EASTERN).astimezone(UTC)


def _start_of_day(text: str, _profile: Profile) -> datetime:
    return datetime.combine(date.fromisoformat(text), time(), EASTERN).astimezone(UTC)


def _day(text: str, _profile: Profile) -> date:
    return date.fromisoformat(text)


def _no_day(_value: object, _profile: Profile) -> str:
    raise ValueError("moments are written, not days")


ID = Kind("value_malformed", _id, _same)
UETR = Kind("value_malformed", _uetr, _same)
CODE = Kind("value_unknown", _id, _same)
NAME = Kind("value_malformed", lambda value, _profile: texts.plain(value), _same)
WORDS = Kind("value_malformed", lambda value, _profile: texts.plain(value, _WORDS_MAX), _same)
REMITTANCE = Kind(
    "value_malformed", lambda value, _profile: texts.plain(value, _REMITTANCE_MAX), _same
)
ACCOUNT = Kind("value_malformed", _account_number, _same)
ROUTING = Kind("value_malformed", _routing_number, _same)
CENTS = Kind("amount_malformed", _dollars, _cents, has_currency=True)
MOMENT = Kind("moment_malformed", clocks.text_of, clocks.moment_of)
DAY = Kind("moment_malformed", lambda value, _profile: value.isoformat(), _day)
START_OF_DAY = Kind("moment_malformed", _no_day, _start_of_day)
END_OF_DAY = Kind("moment_malformed", _no_day, _end_of_day)
DUPLICATE = Kind(
    "value_unknown",
    lambda value, _profile: "DUPL" if value else "",
    lambda text, _profile: text == "DUPL",
)
