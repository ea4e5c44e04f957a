"""Tells people once a day what is late in reconciliation: days, suspense, and proofs of funds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from common import days
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.money import format_cents
from reconciliation import failing, suspense, unproven
from reconciliation.closing import Outcome
from solvency import coverage
from tenants.services import alarms
from tenants.services.alarms import LateWork

# Whoever matches lines is told.
_POWER = "reconciliation.match_statementline"
_EVERY_RAIL = "proof"  # a proof is of all rails together
_NO_OBSTACLE = "Its two sides differ, or each try was disturbed: the log says how."


@by(WORKER)
def tell(outcomes: Iterable[Outcome], *, now: datetime) -> None:
    """E-mail what is late by now, each kind of each rail once a day. `outcomes` are of the closing
    just now."""
    for work in (
        *_failures(now),
        *_open_days(outcomes),
        *_suspense(now),
        *_proofs(now),
        *_not_covered(),
    ):
        alarms.tell_daily(work, now=now)


def _failures(now: datetime) -> Iterator[LateWork]:
    for each in failing.failures():
        if each.is_late(now):
            where = f"rail {each.rail}" if each.rail else "every rail"
            yield LateWork(
                what=f"{each.sweep.capitalize()} has failed since {days.time_words(each.since)}",
                facts=[
                    ("Of", where),
                    ("Why", each.why),
                    ("What to do", "Look for reconciliation_failed in the log of the workers."),
                ],
                power=_POWER,
                page="desk:reconciliation",
                action="reconciliation.failed",
                subject_id=f"{each.sweep}:{each.rail}",
                details={"sweep": str(each.sweep), "of": where},
            )


def _open_days(outcomes: Iterable[Outcome]) -> Iterator[LateWork]:
    for each in outcomes:
        if each.is_late and each.open_day:
            yield LateWork(
                what=f"{each.open_day:%B %-d, %Y} is not closed",
                facts=[("Rail", each.rail), *(("Why", reason) for reason in each.reasons)],
                power=_POWER,
                page="desk:reconciliation",
                action="day.left_open",
                subject_id=each.rail,
                details={"rail": each.rail, "day": each.open_day.isoformat()},
            )


def _suspense(now: datetime) -> Iterator[LateWork]:
    for each in suspense.standings():
        if each.since and each.is_late(now):
            amount = format_cents(each.sums.gross)
            yield LateWork(
                what=f"{amount} in suspense should be explained",
                facts=[
                    ("Rail", each.rail),
                    ("Oldest line", f"{days.day_of(each.since):%B %-d, %Y}"),
                ],
                power=_POWER,
                page="desk:suspense",
                action="suspense.left_open",
                subject_id=each.rail,
                details={"rail": each.rail, "amount": each.sums.gross},
            )


def _proofs(now: datetime) -> Iterator[LateWork]:
    if late := unproven.late_days(now=now):
        why = list(unproven.obstacles(now=now)) or [_NO_OBSTACLE]
        yield LateWork(
            what=f"{late[0]:%B %-d, %Y} has no proof of funds",
            facts=[("Why", reason) for reason in why],
            power=_POWER,
            page="desk:proofs",
            action="proof.missing",
            subject_id=_EVERY_RAIL,
            details={"day": late[0].isoformat()},
        )


def _not_covered() -> Iterator[LateWork]:
    report = coverage.newest()
    if report and (missing := coverage.missing(report)):
        amount = format_cents(missing)
        yield LateWork(
            what=f"Tenants own {amount} more than lies at the banks",
            facts=[
                ("Proof of funds", f"{report.day:%B %-d, %Y}"),
                ("What to do", "Bring in own funds, and look for unexplained adjustments."),
            ],
            power=_POWER,
            page="desk:proofs",
            action="tenants.not_covered",
            subject_id=_EVERY_RAIL,
            details={"day": report.day.isoformat(), "amount": missing},
        )
