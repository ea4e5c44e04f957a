"""What happens to open questions with time: a reminder, then the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

import structlog
from django.db import transaction

from approvals import links, outcomes
from approvals.errors import ConfirmationClosed
from approvals.matters import Matter
from approvals.models import Decision
from common.database_clock import judged
from tenants.actors import SYSTEM

log = structlog.get_logger(__name__)

REMINDER_BEFORE_END = timedelta(hours=24)
BATCH = 1_000


@judged
def expire_due(matter: Matter, *, now: datetime) -> int:
    """Close the questions nobody answered in time; returns how many.

    One about something that staff hold stays open until the release.
    """

    def expire(confirmation_id: str) -> None:
        question = outcomes.lock(matter, confirmation_id)
        if getattr(question, matter.subject).held_at is not None:
            raise ConfirmationClosed("Staff hold it meanwhile.")
        outcomes.decide(matter, question, Decision.EXPIRED, decided_by="", now=now)
        matter.stop(
            question,
            code="confirmation_expired",
            message="Nobody approved in time.",
            actor=SYSTEM,
            now=now,
        )

    unheld = {f"{matter.subject}__held_at": None}
    over = matter.questions().filter(decision=Decision.OPEN, expires_at__lte=now, **unheld)
    return each(over.order_by("expires_at").values_list("pk", flat=True)[:BATCH], expire)


@judged
def remind_due(matter: Matter, *, now: datetime) -> int:
    """Remind the approvers of questions that end within a day, once; returns how many."""

    def remind(confirmation_id: str) -> None:
        unreminded = matter.questions().filter(decision=Decision.OPEN, reminded_at=None)
        if not unreminded.filter(pk=confirmation_id).update(reminded_at=now):
            raise ConfirmationClosed("Somebody else reminded them.")
        question = matter.questions().get(pk=confirmation_id)
        links.queue(matter, question, to=question.approvers, template=links.REMINDER_MAIL, now=now)

    soon = matter.questions().filter(
        decision=Decision.OPEN,
        reminded_at=None,
        expires_at__gt=now,
        expires_at__lte=now + REMINDER_BEFORE_END,
    )
    return each(soon.order_by("expires_at").values_list("pk", flat=True)[:BATCH], remind)


def each(ids: Iterable[str], act: Callable[[str], None]) -> int:
    """Run `act` for each question, in a transaction of its own; one that breaks stops no other."""
    done = 0
    for confirmation_id in list(ids):
        try:
            with transaction.atomic():
                act(confirmation_id)
        except ConfirmationClosed:
            continue  # somebody decided in between
        except Exception:
            log.exception("confirmation_sweep_failed", confirmation_id=confirmation_id)
        else:
            done += 1
    return done
