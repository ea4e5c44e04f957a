"""The one place that reads the clock. Domain code takes `now` as an argument."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The current instant, aware, in UTC."""
    return datetime.now(UTC)


def text_of(instant: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that text sorts like time."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
