"""The wall, table by table: none is left out because no test had a row of it."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import DatabaseError, connection, transaction

from common.database import doors, rights, walls
from tests.common.database import any_rows

pytestmark = pytest.mark.django_db

TENANTS = "tenants_tenant"
TABLES = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1
"""
# What would undo what no row may undo, whichever table it is.
DESTROYING = (
    "TRUNCATE {}",
    "TRUNCATE {} CASCADE",
    "ALTER TABLE {} DISABLE TRIGGER ALL",
    "ALTER TABLE {} DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY",
    "DROP TABLE {}",
    "CREATE POLICY mine ON {} USING (true)",
)
ROLES = ("application", "api")


@pytest.fixture
def both(acme, rival):
    any_rows.make(acme.pk, rival.pk)
    return acme, rival


def whole(model):
    """All rows of a model, as by a selector that lost its filter; no column is needed for that."""
    return model._base_manager.all()


def readable():
    """The models whose tables the API's role may read at all."""
    return [
        model
        for model in any_rows.walled()
        if model._meta.db_table not in rights.HIDDEN_FROM_TENANTS
    ]


def touched(statement):
    """How many rows a statement changed; none if a right, a trigger or a constraint refused it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.rowcount
    except DatabaseError:
        return 0


def test_there_is_a_row_of_either_in_every_table(both):
    """Without one the tests below would show nothing."""
    found = {model._meta.db_table: whole(model).count() for model in any_rows.walled()}

    assert found.keys() == walls.of_tables().keys()
    assert {table: count for table, count in found.items() if count < len(both)} == {}


def test_nothing_is_seen_without_a_tenant(both):
    with doors.of_api(only_reads=True):
        found = {model._meta.db_table: whole(model).exists() for model in readable()}

    assert {table for table, is_seen in found.items() if is_seen} == set()


def test_a_selector_without_its_filter_gets_one_tenants_rows(both):
    seen = []
    for tenant in both:
        with doors.of_tenant(tenant.pk, only_reads=True):
            seen.append(
                {
                    model._meta.db_table: set(whole(model).values_list("pk", flat=True))
                    for model in readable()
                }
            )

    ours, theirs = seen
    assert {table for table, keys in ours.items() if not keys} == set()
    assert {
        table: ours[table] & theirs[table] for table in ours if ours[table] & theirs[table]
    } == {}


def test_a_change_without_a_filter_reaches_one_tenants_rows(both):
    """Or nothing, where the role may not change rows at all."""
    acme, _ = both
    changed = {}
    for model in readable():
        table = model._meta.db_table
        with doors.of_tenant(acme.pk, only_reads=False):
            ours = whole(model).count()
            column = model._meta.concrete_fields[0].column
            for statement in (
                f'UPDATE {table} SET "{column}" = "{column}"',
                f"DELETE FROM {table}",
            ):
                changed[statement] = (touched(statement), ours)

    wrong = {text: found for text, found in changed.items() if found[0] > found[1]}
    assert wrong == {}
    assert sum(count for count, _ in changed.values()) > len(changed) / 4


@pytest.mark.parametrize("table", sorted(rights.HIDDEN_FROM_TENANTS))
def test_what_is_the_operators_is_not_read_for_a_tenant(both, table):
    acme, _ = both
    look = f"SELECT count(*) FROM {table}"

    refused = pytest.raises(DatabaseError, match=f"permission denied for table {table}")
    with refused, doors.of_tenant(acme.pk, only_reads=True), connection.cursor() as cursor:
        cursor.execute(look)


@pytest.mark.parametrize("role", ROLES)
def test_no_role_undoes_what_guards_a_table(acme, role):
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = [name for (name,) in cursor.fetchall()]
    door = doors.of_tenant(acme.pk, only_reads=False) if role == "api" else transaction.atomic()
    with door:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            known = {"api": settings.DATABASE_API["USER"]}
            expected = known.get(role, settings.DATABASE_APPLICATION_ROLE)
            assert cursor.fetchall() == [(expected,)]
        done = [text for table in tables for text in DESTROYING if not refused(text.format(table))]

    assert done == []


def refused(statement):
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    except DatabaseError as error:
        return "must be owner" in str(error) or "permission denied" in str(error)
    return False
