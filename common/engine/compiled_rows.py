"""Querysets that Django compiles once per process, and that are read often.

Its compiler takes several times as long for a few rows by an index as PostgreSQL does. The rows are
made as ever, by the queryset's own iterator: objects with related ones and annotations, or values.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, QuerySet
from django.db.models.sql.compiler import SQLCompiler

from common.engine.compiled import Given

R = TypeVar("R")


class Rows(Generic[R]):
    """What `build` selects. It is called once, and depends on nothing but its keywords: for each of
    `fields` it gets the place of a value that `read` is told."""

    def __init__(self, build: Callable[..., QuerySet[Any, R]], **fields: Field[Any, Any]) -> None:
        self._build = build
        self._fields = fields

    def read(self, **values: Any) -> list[R]:
        """The rows. Raises what the queryset raises, and KeyError for a value that is missing."""
        queryset, compiler, text, parameters = self._compiled
        given = tuple(values[one.name] if isinstance(one, Given) else one for one in parameters)
        compiler = copy(compiler)
        compiler.connection = connections[DEFAULT_DB_ALIAS]
        compiler.as_sql = lambda *_args, **_options: (text, given)  # type: ignore[method-assign]
        rows = queryset.all()
        rows.query.get_compiler = lambda *_args, **_options: compiler  # type: ignore[method-assign]
        return list(rows)

    @cached_property
    def _compiled(self) -> _Compiled[R]:
        places = {name: Given(name, field) for name, field in self._fields.items()}
        queryset = self._build(**places)
        compiler = queryset.query.get_compiler(DEFAULT_DB_ALIAS)
        text, parameters = compiler.as_sql()
        return _Compiled(queryset, compiler, text, tuple(parameters))


class _Compiled(NamedTuple, Generic[R]):
    queryset: QuerySet[Any, R]
    compiler: SQLCompiler
    text: str
    parameters: tuple[Any, ...]
