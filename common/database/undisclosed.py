"""Rows without the columns that say who somebody is or open something, which not every login may
read (`rights.SECRETS`). Whoever needs such a column asks for it, and reads it by another query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db import models
from django.db.models import QuerySet

from common.database import rights

Row = TypeVar("Row", bound=models.Model)


def of(rows: QuerySet[Row]) -> QuerySet[Row]:
    """`rows` without these columns, and with what they refer to, if that has such columns, so that
    nothing reads it whole later on."""
    related = [field.name for field in _referring(rows.model)]
    shown = rows.select_related(*related) if related else rows
    return shown.defer(*_hidden(rows.model))


def _referring(model: type[models.Model]) -> Iterator[models.ForeignKey[Any, Any]]:
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey) and _of_table(field.related_model):
            yield field


def _hidden(model: type[models.Model]) -> Iterator[str]:
    yield from _of_table(model)
    for field in _referring(model):
        yield from (f"{field.name}__{name}" for name in _of_table(field.related_model))


def _of_table(model: type[models.Model]) -> frozenset[str]:
    return rights.SECRETS.get(model._meta.db_table, frozenset())
