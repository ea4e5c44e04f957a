"""The one place that reads the clock. Domain code takes `now` as an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current instant, aware, in UTC."""
    return datetime.now(UTC)


def text_of(instant: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that text sorts like time."""
    return instant.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """The instant that ISO 8601 `text` names, in UTC. Raises ValueError, also without an offset,
    because the instant is then unknown."""
    try:
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError("no offset")
        return instant.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("out of range") from error
