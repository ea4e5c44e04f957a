"""The money of returns that our bank did not accept: a dishonored return brings it back, unless the
other bank contests that (decision 0218).

The transfer stays as its return left it. What moves is a row of its own (`ReturnDishonor`): the
operator's lines and the tenant's postings name its id. Money in is credited once the contest time
is over; money out left again by the dishonor, and is debited at once. What was counted is undone by
a contest that comes later. A contest that comes before the dishonor it is about waits for it, and
then nothing reaches the tenant's balance.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

import structlog
from django.db import transaction

from balance import services as ledger
from balance.kinds import PostingType
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.sets import Entry
from common import days, ids, sweeps
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from networks import calendar
from networks.base import EventKind
from tenants.actors import SYSTEM
from tenants.services import audit
from transfers.books import DISHONORED, Dishonored
from transfers.inbox.models import InboundEvent, ReturnDishonor

log = structlog.get_logger(__name__)

SOURCE_TYPE = "return_dishonor"
KINDS = frozenset({EventKind.RETURN_DISHONORED, EventKind.RETURN_CONTESTED})
_SWEEP_MAX = 500


def hear(row: Any, event: InboundEvent, *, direction: Literal["in", "out"], now: datetime) -> None:
    """Book what a message of `KINDS` says of a returned transfer, whose row is locked.

    The last of the caller's transaction: it locks the tenant's balance. A second dishonor without a
    contest between, and a second contest without a dishonor, say nothing new.
    """
    if not row.returned:
        log.warning("dishonor_of_no_return", subject_id=row.pk, event_id=event.event_id)
        return
    last = _of(row.pk).select_for_update(no_key=True).last()
    if event.says == EventKind.RETURN_DISHONORED:
        _dishonored(row, event, last, direction, now)
    else:
        _contested(row, event, last, direction, now)


@by(WORKER)
@judged
def count_due(*, now: datetime) -> int:
    """Credit what nobody contested in time; returns how many dishonors that were."""
    due = ReturnDishonor.objects.filter(due_at__lte=now).order_by("due_at", "pk")
    found = list(due.values_list("pk", flat=True)[:_SWEEP_MAX])
    return sweeps.each(found, lambda pk: _count(pk, now), failure="dishonor_not_counted")


def of_transfer(row_id: str) -> list[ReturnDishonor]:
    """The dishonored returns of a transfer with their messages, in order. One query."""
    return list(_of(row_id).select_related("dishonored", "contested"))


def _of(row_id: str) -> Any:
    return ReturnDishonor.objects.filter(subject_id=row_id).order_by("pk")


# --- What banks say


def _dishonored(
    row: Any, event: InboundEvent, last: ReturnDishonor | None, direction: str, now: datetime
) -> None:
    if last is None or _is_over(last):
        _begin(_new(row, direction, now), event, now)
    elif last.contested is None:
        log.warning("dishonored_again", subject_id=row.pk, event_id=event.event_id)
    else:
        _complete(last, event, last.contested, now)


def _begin(found: ReturnDishonor, event: InboundEvent, now: datetime) -> None:
    """The money moves between the banks, and to or from the tenant where that is safe at once."""
    terms = DISHONORED[found.direction]
    found.dishonored = event
    if terms.is_safe_at_once:
        found.counted_at = now
    else:
        found.due_at = _over_at(event)
    found.save(force_insert=True)
    line = _line(found, terms.dishonored, event.settlement_date)
    if terms.is_safe_at_once:
        _post_counted(found, terms, line, now=now)
    else:
        ledger.book([line], now=now)


def _complete(
    found: ReturnDishonor, event: InboundEvent, contest: InboundEvent, now: datetime
) -> None:
    """The dishonor of a contest that came first: there and back between the banks."""
    terms = DISHONORED[found.direction]
    found.dishonored = event
    _save(found, now, "dishonored")
    ledger.book(
        [
            _line(found, terms.dishonored, event.settlement_date),
            _line(found, terms.contested, contest.settlement_date),
        ],
        now=now,
    )


def _contested(
    row: Any, event: InboundEvent, last: ReturnDishonor | None, direction: str, now: datetime
) -> None:
    if last is None or _is_over(last):
        found = _new(row, direction, now)
        found.contested = event
        found.save(force_insert=True)
    elif last.contested is not None:
        log.warning("contested_again", subject_id=row.pk, event_id=event.event_id)
    else:
        _take_back(last, event, now)


def _take_back(found: ReturnDishonor, event: InboundEvent, now: datetime) -> None:
    """The money goes again, and from or to the tenant where it was counted."""
    terms = DISHONORED[found.direction]
    found.contested, found.due_at = event, None
    _save(found, now, "contested", "due_at")
    line = _line(found, terms.contested, event.settlement_date)
    if found.counted_at is None:
        ledger.book([line], now=now)
        return
    _record(found, "contested", terms.undoes, now)
    says = terms.says_undone.format(found.subject_id)
    _post(found, terms.undoes, says, [line, _line(found, terms.undone)], now)


def _is_over(found: ReturnDishonor) -> bool:
    """Whether both of its messages came."""
    return found.dishonored is not None and found.contested is not None


def _new(row: Any, direction: str, now: datetime) -> ReturnDishonor:
    return ReturnDishonor(
        id=ids.new("rdh"),
        tenant_id=row.tenant_id,
        subject_id=row.pk,
        direction=direction,
        network=row.network,
        amount=row.amount,
        created_at=now,
        changed_at=now,
    )


def _over_at(event: InboundEvent) -> datetime:
    """When the contest time is over: what was sent on its last day has arrived by the opening of
    the banking day after it."""
    settled = event.settlement_date or days.day_of(event.occurred_at)
    last_day = calendar.contest_due_date(settled)
    return calendar.opening_of_business(calendar.next_banking_day(last_day))


# --- The contest time is over


@transaction.atomic
def _count(dishonor_id: str, now: datetime) -> bool:
    rows = ReturnDishonor.objects.select_for_update(no_key=True, skip_locked=True)
    found = rows.filter(pk=dishonor_id, due_at__lte=now).first()
    if found is None:
        return False
    found.due_at, found.counted_at = None, now
    _save(found, now, "due_at", "counted_at")
    _post_counted(found, DISHONORED[found.direction], now=now)
    return True


def _post_counted(found: ReturnDishonor, terms: Dishonored, *lines: Booking, now: datetime) -> None:
    _record(found, "counted", terms.counts, now)
    says = terms.says_counted.format(found.subject_id)
    _post(found, terms.counts, says, [*lines, _line(found, terms.counted)], now)


# --- The books


def _post(
    found: ReturnDishonor, kind: PostingType, says: str, lines: list[Booking], now: datetime
) -> None:
    """The tenant's posting and the operator's lines in one statement, the last of the
    transaction."""
    entry = Entry(kind, found.tenant_id, found.amount, SOURCE_TYPE, found.pk, says)
    ledger.post_all([entry], lines, now=now)


def _line(found: ReturnDishonor, step: Step, day: date | None = None) -> Booking:
    return Booking(step, found.amount, found.network, SOURCE_TYPE, found.pk, found.tenant_id, day)


def _record(found: ReturnDishonor, what: str, kind: PostingType, now: datetime) -> None:
    """Tell the tenant in its audit log what moved its balance."""
    audit.record(
        tenant_id=found.tenant_id,
        actor=SYSTEM,
        action=f"return_dishonor.{what}",
        subject_id=found.subject_id,
        details={"type": str(kind), "amount": found.amount},
        now=now,
    )


def _save(found: ReturnDishonor, now: datetime, *columns: str) -> None:
    found.changed_at = now
    found.save(update_fields=[*columns, "changed_at"])
