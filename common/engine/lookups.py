"""Conditions of the ORM whose text does not grow with their values.

`pk__in=ids` has a place for each id. So every length is another statement, which the server parses,
and prepares, anew.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Lookup, Q
from django.db.models.sql.compiler import SQLCompiler

from common.engine.compiled import Given


class _OneOf(Lookup):
    """A column whose value is in an array."""

    prepare_rhs = False

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper
    ) -> tuple[str, tuple[Any, ...]]:
        column, values = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", (*values, self.rhs)


def one_of(name: str, values: Collection[str] | Collection[int] | Given) -> Q | _OneOf:
    """`filter(<name>__in=values)` as one text, for columns of texts or numbers. A `Given` is a list
    then."""
    if isinstance(values, Given):
        return _OneOf(F(name), values)
    return _OneOf(F(name), list(values)) if values else Q(pk__in=())
