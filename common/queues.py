"""The state of the queues. Every table whose model has `QUEUED` is a queue."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

from django.apps import apps
from django.db.models import Count, DateTimeField, Max, Min, Model, Q, QuerySet, Value

from common import leases
from common.engine import compiled
from common.engine.compiled import Given, Statement


@dataclass(frozen=True, kw_only=True)
class QueueState:
    """One queue. `due` rows should be worked on now, `leased` rows are being worked on, `later`
    rows wait."""

    name: str
    due: int
    leased: int
    later: int
    oldest_due_at: datetime | None
    attempts_max: int

    def age(self, now: datetime) -> float:
        """For how many seconds the oldest due row has waited; 0 if nothing is due."""
        return (now - self.oldest_due_at).total_seconds() if self.oldest_due_at else 0.0


_FIGURES = tuple(field.name for field in fields(QueueState))


def states(*, now: datetime) -> list[QueueState]:
    """The state of every queue, by name. One query, which reads the indexes of queued rows."""
    found = (dict(zip(_FIGURES, row, strict=True)) for row in _of_all().rows(now=now))
    return sorted((QueueState(**figures) for figures in found), key=lambda state: state.name)


@cache
def _of_all() -> Statement:
    return compiled.union(*(_of(model) for model in apps.get_models() if hasattr(model, "QUEUED")))


def _of(model: type[Model]) -> QuerySet[Any, Any]:
    """One row of `_FIGURES`, of the moment that the statement is given."""
    now = Given("now", DateTimeField())
    has_leases = issubclass(model, leases.Leased)
    is_later = Q(next_attempt_at__gt=now)
    is_due = leases.is_due(now) if has_leases else ~is_later
    is_leased = Q(leased_until__gt=now) if has_leases else Q(pk__in=[])
    rows = model._default_manager.filter(model.QUEUED)  # type: ignore[attr-defined]  # `_of_all` asked
    return compiled.sums(
        rows,
        queue=Value(model._meta.label_lower),
        due=Count("pk", filter=is_due),
        leased=Count("pk", filter=is_leased),
        later=Count("pk", filter=is_later),
        oldest_due_at=Min("next_attempt_at", filter=is_due),
        attempts_max=Max("attempts", filter=is_due, default=0),
    )
