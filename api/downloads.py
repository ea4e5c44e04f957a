"""CSV files that are sent while they are written."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from django.http import StreamingHttpResponse

# A spreadsheet reads a cell that starts with one of these as a formula (the last: full width).
_FORMULA_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")

Cell = str | int | None


class _Line:
    """What csv.writer writes to: it returns each finished line."""

    def write(self, text: str) -> str:
        return text


def csv_download(
    filename: str, header: Sequence[str], rows: Iterable[Sequence[Cell]]
) -> StreamingHttpResponse:
    """An attachment of `header` and `rows`, in which no text is a formula.

    Reads the first row at once, so that a database that is down still answers with an error.
    """
    waiting = iter(rows)
    first = list(islice(waiting, 1))
    response = StreamingHttpResponse(
        _lines(chain([header], first, waiting)), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "no-store"
    return response


def _lines(rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    for row in rows:
        yield writer.writerow([safe_cell(cell) for cell in row])


def safe_cell(cell: Cell) -> Cell:
    """Change text that a spreadsheet would take for a formula. Numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell
