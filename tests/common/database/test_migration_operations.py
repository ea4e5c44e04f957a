"""Migrations of tables that are in use."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from common.database.operations import AddIndexOnline
from tests.database import owner

# The last migration of each app that was written before this was asked, or made its first tables.
OLD = {
    "api": 3,
    "balance": 9,
    "funding": 12,
    "network_inbox": 4,
    "payments": 8,
    "sandbox_bank": 1,
    "seals": 1,
    "tenants": 6,
    "webhooks": 6,
}
INDEX = models.Index(fields=["reason"], name="switch_by_reason")


def test_none_reads_a_table_in_use_while_nobody_may_write_to_it():
    found = {
        (*key, type(step).__name__)
        for key, migration in MigrationLoader(None).disk_migrations.items()
        if int(key[1][:4]) > OLD.get(key[0], 10_000)
        for step in migration.operations
        if type(step) in {migrations.AddIndex, migrations.AddConstraint, migrations.RemoveIndex}
    }

    assert found == set()


def test_none_drops_the_index_of_a_field_within_a_transaction():
    """Nor with it the unique indexes on that field, as AlterField does."""
    loader = MigrationLoader(None)
    found = set()
    for key, migration in loader.disk_migrations.items():
        altered = [step for step in migration.operations if type(step) is migrations.AlterField]
        if not altered or int(key[1][:4]) <= OLD.get(key[0], 10_000):
            continue
        before = loader.project_state(key, at_end=False).models
        for step in altered:
            field = before[key[0], step.model_name_lower].fields[step.name]
            if getattr(field, "db_index", False) and not getattr(step.field, "db_index", False):
                found.add((*key, step.name))

    assert found == set()


def valid_indexes():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indisvalid AND indexrelid = to_regclass('switch_by_reason')"
        )
        return [words.partition(" USING ")[2] for (words,) in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
def test_a_build_that_was_cut_off_is_begun_again():
    step, states = AddIndexOnline("switch", INDEX), ProjectState.from_apps(apps)
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute("CREATE INDEX switch_by_reason ON tenants_switch (id)")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false"
            " WHERE indexrelid = to_regclass('switch_by_reason')"
        )

        with connection.schema_editor(atomic=False) as editor:
            step.database_forwards("tenants", editor, states, states)
        built = valid_indexes()
        with connection.schema_editor() as editor:
            step.database_backwards("tenants", editor, states, states)

    assert built == ["btree (reason)"]
    assert valid_indexes() == []
