"""Ties lines of statements to expected lines of the same sum, and unmatches them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef

from reconciliation import accounts, expecting
from reconciliation.errors import MatchRefused
from reconciliation.models import ExpectedLine, Match, MatchedLine, Rule, StatementLine
from reconciliation.models.matching import WRITTEN_FOR


class Pair(NamedTuple):
    """A line of a statement and the line of the books of the same `amount` cents, by their ids.
    `day` is the last day of the statement."""

    bank_line: int
    expected_line: int
    amount: int
    day: date


@transaction.atomic
def tie(
    bank_line_ids: Collection[int],
    expected_lines: Collection[int],
    *,
    rail: str,
    rule: Rule,
    day: date,
    now: datetime,
    by: str = "",
    reason: str = "",
) -> Match:
    """Match lines of one statement, by their ids, with expected lines of the same sum.

    `day` is the last day of the statement. Locks the rail's account. Raises MatchRefused if a line
    is matched, does not exist, or is of another rail or statement; if the sums differ; or if the
    day is closed.
    """
    account = accounts.lock(rail)
    if account is None or day < expecting.first_open_day(account):
        raise MatchRefused("This day is closed, or before the account's first one.")
    bank = _free_bank_lines(rail, bank_line_ids, day)
    books = _free_expected_lines(rail, expected_lines)
    if not bank and not books:
        raise MatchRefused("Choose the lines that belong together.")
    if len(bank) != len(set(bank_line_ids)) or len(books) != len(set(expected_lines)):
        raise MatchRefused("A line is matched already, or is of another rail or statement.")
    if sum(bank) != sum(books):
        raise MatchRefused("The lines of the bank and those of the books have different sums.")
    match = Match.objects.create(
        rail_id=rail,
        rule=rule,
        day=day,
        amount=sum(bank),
        statement_lines=len(bank),
        expected_lines=len(books),
        made_at=now,
        made_by=by,
        reason=reason,
    )
    _keep(MatchedLine(line_id=line, match=match) for line in sorted(set(bank_line_ids)))
    ExpectedLine.objects.filter(line__in=expected_lines).update(match=match)
    return match


def tie_pairs(
    pairs: Sequence[Pair], *, rail: str, rule: Rule, now: datetime, by: str = "", reason: str = ""
) -> None:
    """Match each line of a statement with the one line of the books that was written for it.

    The caller holds the row lock of the rail's account, and chose free lines of days that are open.
    """
    matches = Match.objects.bulk_create(
        Match(
            rail_id=rail,
            rule=rule,
            day=pair.day,
            amount=pair.amount,
            statement_lines=1,
            expected_lines=1,
            made_at=now,
            made_by=by,
            reason=reason,
        )
        for pair in pairs
    )
    made = list(zip(pairs, matches, strict=True))
    _keep(MatchedLine(line_id=pair.bank_line, match=match) for pair, match in made)
    of_books = [ExpectedLine(line=pair.expected_line, match=match) for pair, match in made]
    ExpectedLine.objects.bulk_update(of_books, ["match"])


@transaction.atomic
def untie(match_id: str, *, reason: str, by: str, now: datetime) -> Match:
    """Unmatch: the lines of a match are free again, and no rule matches those of the bank anymore.

    Locks the rail's account. Raises MatchRefused if there is no such match, if it was unmatched
    already, if its day is closed, or if its lines of the books were booked for it or
    come to zero by themselves.
    """
    match = Match.objects.filter(pk=match_id).first() if "\0" not in match_id else None
    if match is None:
        raise MatchRefused("There is no such match.")
    account = accounts.lock(match.rail_id)
    match.refresh_from_db()
    if match.voided_at:
        raise MatchRefused("Somebody unmatched these lines already.")
    if match.rule in WRITTEN_FOR:
        raise MatchRefused("The books have this from the bank's line: clear it from suspense.")
    if match.rule == Rule.NETTED:
        raise MatchRefused(
            "No line of the bank is in it. If one shows this money after all, book it to suspense."
        )
    if account is None or match.day < expecting.first_open_day(account):
        raise MatchRefused("Its day is closed, and a closed day stays as it is.")
    match.of_bank.update(match=None)
    match.of_books.update(match=None)
    match.voided_at, match.voided_by, match.voided_why = now, by, reason
    match.save(update_fields=["voided_at", "voided_by", "voided_why"])
    return match


def _keep(rows: Iterable[MatchedLine]) -> None:
    """A line that a person set free has a row already."""
    MatchedLine.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["line"], update_fields=["match"]
    )


def _free_bank_lines(rail: str, ids: Collection[int], day: date) -> list[int]:
    """The amounts of those of this day's statement that are not matched."""
    matched = MatchedLine.objects.filter(line=OuterRef("pk"), match__isnull=False)
    rows = StatementLine.objects.filter(
        ~Exists(matched), pk__in=ids, statement__account__rail=rail, statement__last_day=day
    )
    return list(rows.values_list("amount", flat=True))


def _free_expected_lines(rail: str, ids: Collection[int]) -> list[int]:
    """The amounts of those that are not matched."""
    rows = ExpectedLine.objects.filter(rail=rail, line__in=ids, match=None)
    return list(rows.values_list("amount", flat=True))
