"""What the models declare is in the database."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

_THERE = """
SELECT relname FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
WHERE indisvalid AND indisready
UNION ALL
SELECT conname FROM pg_constraint
"""
_REFERENCES = """
SELECT conrelid::regclass::text, attname::text FROM pg_constraint
JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
WHERE contype = 'f' AND cardinality(conkey) = 1 AND convalidated
"""


def rows(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return set(cursor.fetchall())


@pytest.mark.django_db
def test_every_index_and_constraint_is_there():
    there = {name for (name,) in rows(_THERE)}
    declared = {
        (model._meta.label, named.name)
        for model in apps.get_models()
        if model._meta.managed
        for named in (*model._meta.constraints, *model._meta.indexes)
    }

    missing = {(model, name) for model, name in declared if name not in there}

    assert missing == set()


@pytest.mark.django_db
def test_every_reference_is_there():
    there = rows(_REFERENCES)
    declared = {
        (model._meta.db_table, field.column)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed
        for field in model._meta.local_concrete_fields
        if getattr(field, "db_constraint", False)
    }

    assert declared - there == set()
