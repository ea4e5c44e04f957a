"""Lists as PostgreSQL's array literals, for statements that take many rows at once.

They save psycopg's look at each element in Python. The statement must cast, as in
`%(ids)s::text::int[]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime


def texts(values: Iterable[str]) -> str:
    """An array of texts, none of them NULL."""
    return "{" + ",".join([f'"{_escaped(value)}"' for value in values]) + "}"


def plain(values: Iterable[int | datetime | None]) -> str:
    """An array of numbers, truth values or moments; None is NULL."""
    return "{" + ",".join(["NULL" if v is None else f'"{v}"' for v in values]) + "}"


def mixed(values: Iterable[object]) -> str:
    """An array of any one type whose values `str` puts into words that PostgreSQL reads."""
    return "{" + ",".join(["NULL" if v is None else f'"{_escaped(str(v))}"' for v in values]) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"")
