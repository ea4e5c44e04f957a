"""Statements that Django compiles once and that are run often.

Its compiler takes several times as long for a count by a small index as PostgreSQL does. A queryset
whose text is always the same is compiled here once per process; a value that changes is `Given`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Expression, Field, QuerySet, Value
from django.db.models.sql.compiler import SQLCompiler

Text = tuple[str, tuple[Any, ...]]


class Given(Expression):
    """The place of a value in a condition: `Statement.rows` gets it by this name."""

    def __init__(self, name: str, output_field: Field[Any, Any]) -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, list[Given]]:  # type: ignore[override]  # a place, not yet a value
        return "%s", [self]


@dataclass(frozen=True)
class Statement:
    """The text, and its parameters in their order."""

    text: str
    parameters: tuple[Any, ...]

    def rows(self, **given: Any) -> list[tuple[Any, ...]]:
        """Run it, as psycopg reads the rows: converters of fields do not run. Raises what Django's
        cursor raises, and KeyError for a value that is missing."""
        values = [given[each.name] if isinstance(each, Given) else each for each in self.parameters]
        with connection.cursor() as cursor:
            cursor.execute(self.text, values)
            found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def union(*rows: QuerySet[Any, Any]) -> Statement:
    """The rows of all these querysets, of which each reads the same kinds of columns."""
    return _joined([_text(each) for each in rows], each="({})", by=" UNION ALL ")


def sums(rows: QuerySet[Any, Any], **figures: Any) -> QuerySet[Any, Any]:
    """`rows.aggregate(**figures)` as a queryset of one row, in the order of `figures`."""
    one_group = rows.order_by().annotate(one_group=Value(1)).values("one_group")
    found: QuerySet[Any, Any] = one_group.annotate(**figures).values_list(*figures)
    return found


def counts(rows: Mapping[str, QuerySet[Any]], *, most: int | None = None) -> Statement:
    """How many rows each has, up to `most`: rows of (name, number)."""
    texts = [_text(each.order_by().values("pk")[:most]) for each in rows.values()]
    named = "(SELECT %s AS name, count(*) FROM ({}) AS found)"
    with_names = [(text, (name, *values)) for name, (text, values) in zip(rows, texts, strict=True)]
    return _joined(with_names, each=named, by=" UNION ALL ")


def _text(rows: QuerySet[Any, Any]) -> Text:
    text, parameters = rows.query.sql_with_params()
    return text, tuple(parameters)


def _joined(parts: list[Text], *, each: str, by: str) -> Statement:
    return Statement(
        by.join(each.format(text) for text, _ in parts),
        tuple(value for _, values in parts for value in values),
    )
