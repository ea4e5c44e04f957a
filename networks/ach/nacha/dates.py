"""The settlement date of a batch, which the operator writes as a day of the year.

Source: Nacha Operating Rules, Appendix Three (Settlement Date, Julian).
"""

from __future__ import annotations

from datetime import date, timedelta


def settlement_date(day_of_year: int, near: date) -> date:
    """The date with that day of the year that is nearest to `near`, in the year before or after it
    if need be. Raises ValueError when none of the three years has it."""
    days = [
        day
        for year in (near.year - 1, near.year, near.year + 1)
        if (day := date(year, 1, 1) + timedelta(days=day_of_year - 1)).year == year
    ]
    if not 1 <= day_of_year <= 366 or not days:
        raise ValueError(f"no year around {near.year} has a day {day_of_year}")
    return min(days, key=lambda day: abs(day - near))
