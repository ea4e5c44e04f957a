"""The state of the queues. Every table whose model has `QUEUED` is a queue."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.apps import apps
from django.db.models import Count, Max, Min, Model, Q

from common import leases


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


def states(*, now: datetime) -> list[QueueState]:
    """The state of every queue, by name. One query each, which reads the index of queued rows."""
    queued = [model for model in apps.get_models() if hasattr(model, "QUEUED")]
    return [_state(model, now) for model in sorted(queued, key=lambda m: m._meta.label_lower)]


def _state(model: type[Model], now: datetime) -> QueueState:
    has_leases = issubclass(model, leases.Leased)
    is_later = Q(next_attempt_at__gt=now)
    is_due = leases.is_due(now) if has_leases else ~is_later
    is_leased = Q(leased_until__gt=now) if has_leases else Q(pk__in=[])
    rows = model._default_manager.filter(model.QUEUED)  # type: ignore[attr-defined]  # `states` asked
    found = rows.aggregate(
        due=Count("pk", filter=is_due),
        leased=Count("pk", filter=is_leased),
        later=Count("pk", filter=is_later),
        oldest_due_at=Min("next_attempt_at", filter=is_due),
        attempts_max=Max("attempts", filter=is_due, default=0),
    )
    return QueueState(name=model._meta.label_lower, **found)
