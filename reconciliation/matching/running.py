"""Matches what is free: takes what the books expect, tries each rule, and books what is left and
names nothing of ours.

Each way of a rule is one transaction under the row lock of the rail's account. So a worker that is
killed has done whole ways, and whoever runs next finds what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import structlog
from django.db import connection, transaction

from common import ids
from common.database.job_doors import by
from common.database.jobs import WORKER
from reconciliation import accounts, booking, expecting, failing
from reconciliation.failing import Sweep
from reconciliation.matching import netting
from reconciliation.matching.naming import LINES_OF_BANK
from reconciliation.matching.rules import WAYS, Way
from reconciliation.models import Rule
from reconciliation.models.matching import MATCH_PREFIX

log = structlog.get_logger(__name__)

# One statement ties a million entries. On a busy machine it takes longer than others may.
_PATIENCE = "SET LOCAL statement_timeout = '3min'"
_FREE = f"WITH {LINES_OF_BANK} SELECT count(*) FROM free"  # noqa: S608  # our own text


@by(WORKER)
def run_due(*, now: datetime) -> None:
    """Match the lines of every rail that has an account. One that fails holds up no other one."""
    for account in accounts.in_force():
        with failing.noted(Sweep.MATCHING, account.rail_id, now=now):
            run(account.rail_id, now=now)


def run(rail: str, *, now: datetime) -> Mapping[Rule, int]:
    """Match what is free at a rail; gives how many matches each rule made. To do it again does no
    harm."""
    expecting.take(rail, now=now)
    made: Counter[Rule] = Counter()
    for way in WAYS:
        made[way.rule] += _try(way, rail, now)
    made[Rule.BOOKED] = booking.book_open(rail, None, now=now)
    made[Rule.NETTED] = netting.tie_open(rail, now=now)
    found = {rule: count for rule, count in made.items() if count}
    if found:
        log.info(
            "statement_lines_matched", rail=rail, **{str(rule): n for rule, n in found.items()}
        )
    return found


@transaction.atomic
def _try(way: Way, rail: str, now: datetime) -> int:
    """Tie what one way finds; gives how many matches that made."""
    if accounts.lock(rail) is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_PATIENCE)
        cursor.execute(_FREE, {"rail": rail})
        ((free,),) = cursor.fetchall()
        if not free:
            return 0
        names = ids.several(MATCH_PREFIX, free)
        values: dict[str, Any] = {"rail": rail, "rule": way.rule.value, "now": now, "ids": names}
        cursor.execute(way.sql, values)
        ((made,),) = cursor.fetchall()
    return int(made)
