"""Whether a statement comes next in an account's chain: each begins where the one before ended.

What is judged here is what no file can tell by itself. Faults inside of a file are those of
`networks.bank_statements.faults`.
"""

from __future__ import annotations

from datetime import date, timedelta
from types import MappingProxyType
from typing import NamedTuple

from networks import calendar

ONE_DAY = timedelta(days=1)
GAP = "statement_gap"
UNKNOWN = "account_unknown"
# The file is set aside, and nothing of it is used.
ASIDE = MappingProxyType(
    {
        "no_statement": "The file has no statement: ask the bank what it is.",
        UNKNOWN: "An account is none of ours at this rail: check whose file it is, or"
        " have the account put in force.",
        "day_not_begun": "It closes a day that has not begun: check which file it is, and ask the"
        " bank whether it sent it.",
        GAP: "A banking day before it has no statement. It is taken by itself once the missing one"
        " is here: ask the bank for it.",
        "statement_overlaps": "It covers a day that another statement covers, and says something"
        " else: ask the bank which one holds.",
        "opening_differs": "It does not begin with the balance with which the one before ended:"
        " ask the bank for what lies between.",
    }
)
# The statement is right, and nothing is to be done with it.
LEFT = MappingProxyType(
    {
        "statement_known": "We have this statement already: nothing was written.",
        "before_the_first": "It closes a day before the account's first one: nothing was written.",
        "not_final": "It reports a day that is not over: kept, and nothing was written.",
        "format_not_read": "This account is read in its other format: nothing was written.",
    }
)


class Said(NamedTuple):
    """What a statement says in all: its days, and cents before and after."""

    first_day: date
    last_day: date
    opening: int
    closing: int
    lines_digest: str


class Standing(NamedTuple):
    """Up to which day an account is proven, and how many cents lay there at its end.

    `today` is the Eastern day by the bank's clock. `first_day` is the account's own first one.
    `known` is what the statement of the day says that a new one closes, if there is one.
    """

    day: date
    balance: int
    first_day: date
    today: date
    known: Said | None


def verdict(said: Said, standing: Standing) -> str:
    """A code of `ASIDE` or `LEFT`; empty if the statement comes next."""
    if said.last_day < standing.first_day:
        return "before_the_first"
    if said.last_day > standing.today:
        return "day_not_begun"
    if said == standing.known:
        return "statement_known"
    if said.first_day <= standing.day:
        return "statement_overlaps"
    if _is_a_banking_day_between(standing.day, said.first_day):
        return GAP
    return "" if said.opening == standing.balance else "opening_differs"


def _is_a_banking_day_between(before: date, after: date) -> bool:
    """A bank sends a statement for each banking day, so days without one are closed days."""
    day = before + ONE_DAY
    while day < after and not calendar.is_banking_day(day):
        day += ONE_DAY
    return day < after
