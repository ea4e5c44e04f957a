"""The verdict on the newest seal and on each place where seals are published."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from seals import figures
from seals.figures import SealState

# Rounds come every 15 minutes and leave the last five out; lines are published every hour.
OLD_AFTER = timedelta(hours=1)
UNPUBLISHED_AFTER = timedelta(hours=2)


@dataclass(frozen=True)
class SealLine:
    """The newest round, a tone and a verdict in a few words; by way when a line was last taken."""

    state: SealState | None
    tone: str
    words: str
    published: dict[str, datetime | None]


def seal_line(now: datetime) -> SealLine:
    """Two small queries, and one for each way that is set."""
    state, published = figures.state(), figures.published_at()
    if state is None:
        return SealLine(state, "info", "Nothing sealed yet", published)
    late = [way for way, at in published.items() if _is_late(at, state, now)]
    if now - state.upto > OLD_AFTER:
        return SealLine(state, "bad", "Sealed, but too long ago", published)
    if late:
        return SealLine(state, "bad", f"Sealed, not published by {' and '.join(late)}", published)
    return SealLine(state, "good", "Sealed", published)


def _is_late(at: datetime | None, state: SealState, now: datetime) -> bool:
    """A way that never took a line is late after as many rounds as there are in that time."""
    if at is None:
        return state.number > UNPUBLISHED_AFTER / timedelta(minutes=15)
    return now - at > UNPUBLISHED_AFTER
