"""Migrations of tables that are in use."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from common.database.operations import AddIndexOnline, refer_with_tenant
from tests.builders import make_endpoint, make_source
from tests.database import owner
from tests.funding.builders import top_up

# The last migration of each app that was written before this was asked, or made its first tables.
OLD = {
    "api": 3,
    "balance": 9,
    "funding": 12,
    "network_inbox": 4,
    "payments": 8,
    "rails": 1,
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


def run_again(app_label, name):
    """As after a process that died before it wrote down that the migration is done."""
    loader = MigrationLoader(None)
    key = (app_label, name)
    state = loader.project_state(key, at_end=False)
    with owner.as_owner(), connection.schema_editor(atomic=False) as editor:
        loader.disk_migrations[key].apply(state, editor)


def constraints():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated"
            " FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2"
        )
        found = cursor.fetchall()
        cursor.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), indisvalid"
            " FROM pg_index WHERE indrelid::regclass::text !~ '^pg_' ORDER BY 1"
        )
        return found + cursor.fetchall()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("app_label", "name"),
    [
        ("api", "0004_no_second_index"),
        ("balance", "0016_once_by_source"),
        ("funding", "0019_no_second_index"),
        ("funding", "0020_unique_again"),
        ("funding", "0022_source_of_tenant"),
        ("network_inbox", "0008_no_second_index"),
        ("payments", "0015_no_second_index"),
        ("payments", "0017_recipient_of_tenant"),
        ("tenants", "0011_no_second_index"),
        ("webhooks", "0011_endpoint_of_tenant"),
    ],
)
def test_a_migration_that_was_not_written_down_can_be_run_again(acme, app_label, name):
    """A process that dies after its last step, with rows in the tables."""
    make_endpoint(acme)
    top_up(acme, source=make_source(acme))
    before = constraints()

    run_again(app_label, name)

    assert constraints() == before


@pytest.mark.django_db(transaction=True)
def test_a_unique_index_that_was_cut_off_is_not_taken_for_a_whole_one():
    name = "one_default_source"
    with owner.as_superuser(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)", [name]
        )
    try:
        run_again("funding", "0020_unique_again")
    finally:
        with owner.as_superuser(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [name]
            )
            found = cursor.fetchall()
            cursor.execute(
                "UPDATE pg_index SET indisvalid = true WHERE indexrelid = to_regclass(%s)", [name]
            )

    assert found == [(True,)]


@pytest.mark.django_db(transaction=True)
def test_a_reference_with_the_tenant_is_made_again_wherever_it_was_cut_off(acme):
    """With rows in both tables."""
    top_up(acme, source=make_source(acme))
    steps = refer_with_tenant(
        table="funding_fundingtransaction",
        column="source_id",
        name="funding_draws_from_own_source",
        to="funding_fundingsource",
        unique="source_of_tenant",
    )
    forwards = [forward for forward, _ in steps]
    with owner.as_owner(), connection.cursor() as cursor:
        for end in range(len(forwards) + 1):
            for statement in forwards[:end] + forwards:
                cursor.execute(statement)
        cursor.execute(
            "SELECT convalidated FROM pg_constraint WHERE conname = 'funding_draws_from_own_source'"
        )
        assert cursor.fetchall() == [(True,)]
