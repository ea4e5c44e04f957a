"""Addresses of pages about one row: a list has one or two in each line."""

from __future__ import annotations

from functools import cache

from django.urls import reverse

_ID = "-id-"


def of_row(view: str, row_id: str) -> str:
    """`reverse(view, args=[row_id])` for a view that takes one of our ids. Raises NoReverseMatch.

    Our ids have no letter that an address would have to escape.
    """
    before, after = _around(view)
    return f"{before}{row_id}{after}"


@cache
def _around(view: str) -> tuple[str, str]:
    before, after = reverse(view, args=(_ID,)).split(_ID)
    return before, after
