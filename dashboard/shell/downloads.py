"""The lists of the dashboard as CSV files, with the day of the books that their filters go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.http import StreamingHttpResponse

from api.downloads import Cell, csv_download
from common import clock, days

EASTERN_DATE = "easternDate"


def download(
    filename: str, header: Sequence[str], rows: Iterable[Sequence[Cell]], *, at: str = "createdAt"
) -> StreamingHttpResponse:
    """The columns of `header`, and the US Eastern date of the instant in the column `at`: the
    instant itself is UTC, whose days are others at night."""
    column = header.index(at)
    dated = ([*row, _day_of(str(row[column]))] for row in rows)
    return csv_download(filename, [*header, EASTERN_DATE], dated)


def _day_of(instant: str) -> str:
    return days.day_of(clock.parse(instant)).isoformat()
