"""What happens to open questions with time: a reminder, the end, and terms that no longer hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from funding.errors import ConfirmationClosed
from funding.models import Confirmation, Decision
from funding.services import confirmation_links as links
from funding.services import confirmation_outcomes as outcomes
from tenants.actors import SYSTEM

log = structlog.get_logger(__name__)

REMINDER_BEFORE_END = timedelta(hours=24)
_BATCH = 1_000


def sweep(*, now: datetime) -> int:
    """Do all of it; returns how much. Safe to run at any time, by any number of workers."""
    return expire_due(now=now) + void_stale(now=now) + remind_due(now=now)


def expire_due(*, now: datetime) -> int:
    """Close the questions nobody answered in time; returns how many."""
    over = Confirmation.objects.filter(decision=Decision.OPEN, expires_at__lte=now)
    return _each(over.order_by("expires_at").values_list("pk", flat=True)[:_BATCH], _expire, now)


def void_stale(*, now: datetime) -> int:
    """Withdraw the questions that today's settings would not ask any more; returns how many."""
    return _each(outcomes.stale().values_list("pk", flat=True)[:_BATCH], _void, now)


def remind_due(*, now: datetime) -> int:
    """Remind the approvers of questions that end within a day, once; returns how many."""
    soon = Confirmation.objects.filter(
        decision=Decision.OPEN,
        reminded_at=None,
        expires_at__gt=now,
        expires_at__lte=now + REMINDER_BEFORE_END,
    )
    return _each(soon.order_by("expires_at").values_list("pk", flat=True)[:_BATCH], _remind, now)


def _each(ids: Iterable[str], act: Callable[[str, datetime], None], now: datetime) -> int:
    """Run `act` for each question, in a transaction of its own; one that breaks stops no other."""
    done = 0
    for confirmation_id in list(ids):
        try:
            with transaction.atomic():
                act(confirmation_id, now)
        except ConfirmationClosed:
            continue  # somebody decided in between
        except Exception:
            log.exception("confirmation_sweep_failed", confirmation_id=confirmation_id)
        else:
            done += 1
    return done


def _expire(confirmation_id: str, now: datetime) -> None:
    question = outcomes.lock(confirmation_id)
    outcomes.decide(question, Decision.EXPIRED, decided_by="", now=now)
    outcomes.end_funding(
        question, code="confirmation_expired", message="Nobody approved in time.", now=now
    )


def _void(confirmation_id: str, now: datetime) -> None:
    question = outcomes.lock_open(confirmation_id, now=now)
    if outcomes.is_current(question):
        raise ConfirmationClosed("The settings changed back.")
    outcomes.void(question, by=SYSTEM, now=now)


def _remind(confirmation_id: str, now: datetime) -> None:
    unreminded = Confirmation.objects.filter(
        pk=confirmation_id, decision=Decision.OPEN, reminded_at=None
    )
    if not unreminded.update(reminded_at=now):
        raise ConfirmationClosed("Somebody else reminded them.")
    question = Confirmation.objects.get(pk=confirmation_id)
    links.queue(question, to=question.approvers, template=links.REMINDER_MAIL, now=now)
