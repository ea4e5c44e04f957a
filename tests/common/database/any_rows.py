"""A row of a tenant in every table of tenants, whatever its columns are called: for tests of what
holds for all of them, those to come among them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models

from common.database import walls
from tests.database import owner

# Columns that name what a network was told to do, by the tables that have them.
_INSTRUCTIONS = {
    ("network_inbox_inboundevent", "instruction_id"),
    ("sandbox_bank_sandboxinstruction", "external_id"),
}
_INSTRUCTED = "funding_fundingtransaction"
_CHECKS = """
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
FROM pg_constraint JOIN pg_class AS said ON said.oid = conrelid
WHERE contype = 'c' AND connamespace = 'public'::regnamespace AND NOT relispartition
"""
_numbers = itertools.count(1_000_001)


def make(*tenant_ids: str) -> None:
    """One row of each of these tenants in every table that has a wall.

    They mean nothing: what a row must be for its constraints and triggers is not asked, so this
    works in a transaction that is rolled back, and nowhere else.
    """
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(_CHECKS)
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
    with owner.as_superuser(triggers=False):
        for tenant_id in tenant_ids:
            rows = _Rows(tenant_id)
            for model in walled():
                rows.key_of(model)


def walled() -> Iterator[type[models.Model]]:
    """The models whose tables have a wall."""
    tables = walls.of_tables().keys()
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and model._meta.db_table in tables:
            yield model


class _Rows:
    """Those of one tenant, made when they are first named."""

    def __init__(self, tenant_id: str) -> None:
        self._models = {model._meta.db_table: model for model in walled()}
        self._keys: dict[str, Any] = {"tenants_tenant": tenant_id}

    def key_of(self, model: type[models.Model]) -> Any:
        table = model._meta.db_table
        if table not in self._keys:
            self._keys[table] = None  # of a row that names itself in the end
            values = self._values(model)
            self._keys[table] = values.get(str(model._meta.pk.column))
            _insert(table, values)
        return self._keys[table]

    def _values(self, model: type[models.Model]) -> dict[str, Any]:
        fields = [field for field in model._meta.concrete_fields if not field.generated]
        return {str(field.column): self._value(model._meta.db_table, field) for field in fields}

    def _value(self, table: str, field: models.Field[Any, Any]) -> Any:
        if (table, field.column) in _INSTRUCTIONS:
            return self.key_of(self._models[_INSTRUCTED])
        if field.column == "tenant_id":  # some tables only name it
            return self._keys["tenants_tenant"]
        if isinstance(field, models.ForeignKey):
            parent = field.related_model._meta.db_table
            if parent in self._models:
                return self.key_of(self._models[parent])
            return None if field.null else _any(field.target_field)
        return None if field.null and not field.primary_key else _any(field)


def _any(field: models.Field[Any, Any]) -> Any:
    """A value that no other row has, where the type has so many."""
    number = next(_numbers)
    if isinstance(field, models.BooleanField):
        return False
    if isinstance(field, models.IntegerField | models.AutoField):
        return number % 30_000 if isinstance(field, models.SmallIntegerField) else number
    if isinstance(field, models.DateField):
        return datetime(2026, 1, 1, tzinfo=UTC)
    if isinstance(field, models.JSONField):
        return "{}"
    if isinstance(field, ArrayField):
        return []
    if isinstance(field, models.BinaryField):
        return str(number).encode()
    if isinstance(field, models.GenericIPAddressField):
        return "127.0.0.1"
    return str(number)[-(field.max_length or 7) :]


def _insert(table: str, values: Mapping[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in values)
    places = ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({places})",
            list(values.values()),
        )
