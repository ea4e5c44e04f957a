"""Tells people once a day where money at an instant network runs short."""

from __future__ import annotations

from datetime import datetime

from common.database.job_doors import by
from common.database.jobs import WORKER
from common.money import format_cents
from networks.instant import position
from networks.instant.position import Standing
from tenants.services import alarms
from tenants.services.alarms import LateWork

# Whoever may ask for more money to be moved is told.
_POWER = "instant.propose_positionmove"


@by(WORKER)
def tell(*, now: datetime) -> None:
    """E-mail each rail whose position is low, once a day: before something waits, and once more
    where something does."""
    for each in position.standings():
        if each.is_low:
            alarms.tell_daily(_work(each), now=now)


def _work(each: Standing) -> LateWork:
    waits = (
        [("Waits for money", f"{each.waiting:,}, {format_cents(each.waiting_cents)}")]
        if each.waiting
        else []
    )
    return LateWork(
        what=f"{format_cents(each.free)} left at the network of {each.rail}",
        facts=[
            ("Rail", each.rail),
            ("Balance", format_cents(each.balance)),
            ("Reserved by payments", format_cents(each.reserved)),
            ("Warned below", format_cents(each.warn_below)),
            *waits,
        ],
        power=_POWER,
        page="desk:positions",
        action="position.exhausted" if each.waiting else "position.low",
        subject_id=each.rail,
        details={"rail": each.rail, "free": each.free, "waiting": each.waiting_cents},
    )
