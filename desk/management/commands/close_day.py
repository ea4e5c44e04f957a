from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import Doer, operator
from desk.reconciliation import acts
from reconciliation import accounts, closing, figures, proving
from reconciliation.closing import Outcome
from reconciliation.figures import Figures, Sums
from reconciliation.models import ClosedDay


@dataclass(frozen=True)
class Note:
    """Until when a line in transit keeps no day open."""

    line: int
    until: date


class Command(JsonCommand):
    help = (
        "Close the days of our accounts at banks as far as they come to zero, prove the newest one"
        " that all accounts have closed, and print what each comes to. Ends with status 1 when a"
        " day stays open, and says why."
    )
    outcomes: tuple[Outcome, ...] = ()

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rail", help="only the account behind this rail")
        parser.add_argument("--operator", default="", help="your name, kept for good")
        parser.add_argument(
            "--note",
            action="append",
            default=[],
            type=_note,
            metavar="LINE:DAY",
            help="let a line in transit keep no day open until DAY, as 4711:2026-11-30; needs"
            " --operator and --reason",
        )
        parser.add_argument("--reason", default="", help="why those lines take longer")

    def perform(self, **options: Any) -> dict[str, Any]:
        doer = operator(options["operator"]) if options["operator"].strip() else None
        if options["note"]:
            _explain(options["note"], options["reason"], doer)
        self.outcomes = tuple(_close(rail, doer) for rail in _rails(options["rail"]))
        rails = {outcome.rail: _shown(outcome) for outcome in self.outcomes}
        proof = proving.prove_due(now=utc_now())
        return {"rails": rails, "proven": proof.day.isoformat() if proof else None}

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        still_open = [each for each in self.outcomes if each.open_day]
        if still_open:
            raise CommandError(
                "\n".join(
                    f"{each.rail}: {each.open_day:%B %-d, %Y} stays open. {' '.join(each.reasons)}"
                    for each in still_open
                )
            )


def _note(text: str) -> Note:
    line, _, until = text.partition(":")
    try:
        return Note(int(line), date.fromisoformat(until))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not LINE:DAY, as 4711:2026-11-30") from error


def _explain(notes: list[Note], reason: str, doer: Doer | None) -> None:
    if doer is None or not reason.strip():
        raise CommandError("--note needs --operator and --reason.")
    for note in notes:
        acts.explain(line=note.line, until=note.until, reason=reason, doer=doer, now=utc_now())


def _rails(rail: str | None) -> list[str]:
    if rail is None:
        return [account.rail_id for account in accounts.in_force()]
    if accounts.current(rail) is None:
        raise CommandError(f"The rail {rail} has no settlement account in force.")
    return [rail]


def _close(rail: str, doer: Doer | None) -> Outcome:
    """By an operator, or by itself, as workers do it."""
    close_one = partial(acts.close_day, doer=doer) if doer else None
    return closing.close_all(rail, now=utc_now(), close_one=close_one)


def _shown(outcome: Outcome) -> dict[str, Any]:
    return {
        "closed": [day.day.isoformat() for day in outcome.closed],
        "openDay": outcome.open_day.isoformat() if outcome.open_day else None,
        "reasons": list(outcome.reasons),
        **_figures(outcome),
    }


def _figures(outcome: Outcome) -> dict[str, Any]:
    """Of the day that stays open, or else of the last closed one."""
    account = accounts.current(outcome.rail)
    last = ClosedDay.objects.filter(rail=outcome.rail).order_by("-day").first()
    day = outcome.open_day or (last.day if last else None)
    return _of(figures.of(account, day)) if account and day else {}


def _of(found: Figures) -> dict[str, Any]:
    return {
        "day": found.day.isoformat(),
        "ledger": found.ledger,
        "bank": found.bank,
        "inTransit": {str(age): _sums(sums) for age, sums in found.in_transit.items()},
        "shownEarly": _sums(found.ahead),
        "unmatched": _sums(found.unmatched),
        "difference": found.difference,
    }


def _sums(sums: Sums) -> dict[str, int]:
    return {"lines": sums.lines, "credits": sums.credits, "debits": sums.debits}
