"""Matches that a person makes or takes back, with a reason. The caller writes the audit log."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

from reconciliation import repeats
from reconciliation.errors import MatchRefused
from reconciliation.matching.tying import tie, untie
from reconciliation.models import Match, Rule, StatementLine
from reconciliation.reasons import checked


def match(
    bank_line_ids: Collection[int],
    expected_lines: Collection[int],
    *,
    rail: str,
    day: date,
    reason: str,
    by: str,
    now: datetime,
) -> Match:
    """Match lines of the statement of `day` with lines of the books of the same sum.

    One person does it, so the lines of the bank all go the same way: else a credit would explain a
    debit that nothing in the books does. For the same reason none of them moves nothing, and none
    looks like one that is matched already. Raises MatchRefused.
    """
    if not bank_line_ids or not expected_lines:
        raise MatchRefused("Choose at least one line of the statement, and one of the books.")
    rows = StatementLine.objects.filter(pk__in=bank_line_ids)
    if rows.filter(amount=0).exists():
        raise MatchRefused("A line of $0.00 moves no money, so it explains none.")
    if rows.filter(amount__gt=0).exists() and rows.filter(amount__lt=0).exists():
        raise MatchRefused(
            "One of these lines came to the account and another one left it. Match each by itself,"
            " or book those that undo each other to suspense: two people clear them."
        )
    if again := repeats.spent(bank_line_ids):
        raise MatchRefused(
            f"{again} What that one shows is matched already: book this one to suspense, where two"
            " people say what it was."
        )
    return tie(
        bank_line_ids,
        expected_lines,
        rail=rail,
        rule=Rule.PERSON,
        day=day,
        now=now,
        by=by,
        reason=checked(reason, MatchRefused),
    )


def unmatch(match_id: str, *, reason: str, by: str, now: datetime) -> Match:
    """Set the lines of a match free, as long as its day is open. From then on a person decides
    about its lines of the bank. Raises MatchRefused."""
    return untie(match_id, reason=checked(reason, MatchRefused), by=by, now=now)
