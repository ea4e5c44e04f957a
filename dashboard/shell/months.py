"""A month or a day in an address: `2026-10`, `2026-10-27`."""

from __future__ import annotations

from datetime import date


class MonthConverter:
    """The first day of the month."""

    regex = "[0-9]{4}-[0-9]{2}"

    def to_python(self, value: str) -> date:
        """Raises ValueError, for which Django finds no page."""
        return date.fromisoformat(f"{value}-01")

    def to_url(self, value: date) -> str:
        return f"{value:%Y-%m}"


class DayConverter:
    """A day."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def to_python(self, value: str) -> date:
        """Raises ValueError, for which Django finds no page."""
        return date.fromisoformat(value)

    def to_url(self, value: date) -> str:
        return value.isoformat()
