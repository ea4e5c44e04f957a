"""How deliveries went, as a bar of colored segments and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from webhooks.delivery_health import Health, Outcome

_TONES = {
    Outcome.DELIVERED: "good",
    Outcome.LATE: "late",
    Outcome.WAITING: "idle",
    Outcome.RETRYING: "warn",
    Outcome.FAILED: "bad",
    Outcome.UNSENT: "idle",
}
_WORDS = {
    Outcome.DELIVERED: "delivered",
    Outcome.LATE: "after a retry",
    Outcome.WAITING: "on the way",
    Outcome.RETRYING: "retrying",
    Outcome.FAILED: "failed",
    Outcome.UNSENT: "not sent",
}


@dataclass(frozen=True)
class Segment:
    """Neighboring deliveries with the same outcome: from `start`, `length` of them."""

    start: int
    length: int
    tone: str


@dataclass(frozen=True)
class HealthBar:
    """The last deliveries, oldest on the left. `words` says the same; `today` the last 24 hours."""

    segments: list[Segment]
    width: int
    words: str
    today: str


def health_bar(health: Health) -> HealthBar:
    return HealthBar(
        segments=_segments(health.outcomes),
        width=len(health.outcomes),
        words=_words(health.outcomes),
        today=_today(health),
    )


def _segments(outcomes: Sequence[Outcome]) -> list[Segment]:
    segments, start = [], 0
    for tone, members in groupby(_TONES[outcome] for outcome in outcomes):
        length = len(list(members))
        segments.append(Segment(start, length, tone))
        start += length
    return segments


def _words(outcomes: Sequence[Outcome]) -> str:
    counted = Counter(outcomes)
    parts = [f"{counted[name]} {_WORDS[name]}" for name in Outcome if counted[name]]
    return f"Last {len(outcomes)}: {', '.join(parts)}" if parts else "Nothing sent yet"


def _today(health: Health) -> str:
    if not health.tried:
        return "Nothing in 24 hours"
    # Rounded down: one failure among many is not 100 %.
    permille = health.delivered * 1000 // health.tried
    return f"{permille / 10:g}% of those sent in 24 hours arrived"
