"""Dates of the file header and of batches: real ones, and such as the operator takes.

Source: Nacha Operating Rules, Appendix Three (effective entry date) and Two (return code R18): a
debit is dated the day it is processed or the next banking day, a credit up to two.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from networks.ach.nacha.validator.tables import DIGITS
from networks.ach.nacha.validator.terms import Terms

_LAST_DEADLINE = 2245  # to the operator, Eastern; what comes later is processed the next day
_DAYS_AHEAD = {"220": 2}
_ONE_DAY = timedelta(days=1)


def a_date(text: str) -> date | None:
    """The day of YYMMDD, or None when there is none."""
    try:
        return date(2000 + int(text[:2]), int(text[2:4]), int(text[4:])) if DIGITS(text) else None
    except ValueError:
        return None


def is_time(text: str) -> bool:
    return DIGITS(text) is not None and int(text[:2]) < 24 and int(text[2:]) < 60


def effective(
    day: date, *, created: date, at: str, service_class: str, terms: Terms
) -> Iterator[tuple[str, str]]:
    """What is wrong with an effective entry date in a file of that date and time."""
    if day < created:
        yield "effective_entry_date_past", ""
        return
    if not terms.is_banking_day(day):
        yield "effective_entry_date_closed", ""
    latest = _processed(created, at, terms)
    for _ in range(_DAYS_AHEAD.get(service_class, 1)):
        latest = _open_from(latest + _ONE_DAY, terms)
    if day > latest:
        yield "effective_entry_date_late", f"the latest is {latest}"


def _processed(created: date, at: str, terms: Terms) -> date:
    late = is_time(at) and int(at) >= _LAST_DEADLINE
    return _open_from(created + _ONE_DAY if late else created, terms)


def _open_from(day: date, terms: Terms) -> date:
    while not terms.is_banking_day(day):
        day += _ONE_DAY
    return day
