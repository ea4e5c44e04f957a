"""Steps of migrations that run while the service is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db.migrations import AddIndex, AlterField, RemoveIndex

_ROWS_PER_PAGE = 10_000


class AddIndexOnline(AddIndexConcurrently):
    """Builds an index while rows are written. The migration needs `atomic = False`.

    A build that was interrupted leaves an invalid index. So an index of this name is dropped first,
    and the migration can be run again. In reverse, the index is dropped at once under a strong lock
    for a moment, which also works inside a transaction.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        name = schema_editor.quote_name(self.index.name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


class RemoveIndexOnline(RemoveIndexConcurrently):
    """Drops an index while rows are written. The migration needs `atomic = False`.

    Backwards the index is built with a lock on the table: that works inside a transaction as well.
    """

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        RemoveIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


class RemoveIndexOfFieldOnline(AlterField):
    """Takes the index that Django made for a field, while rows are written. The migration needs
    `atomic = False`, and `field` differs from what it was in `db_index=False` only.

    AlterField itself would also drop every UniqueConstraint with a condition on this field alone:
    it takes all of a column's indexes that `Meta.indexes` does not name. Backwards as AlterField.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model_name)
        column = model._meta.get_field(self.name).column
        declared = {named.name for named in (*model._meta.indexes, *model._meta.constraints)}
        with schema_editor.connection.cursor() as cursor:
            found = schema_editor.connection.introspection.get_constraints(
                cursor, model._meta.db_table
            )
        for name, what in found.items():
            is_plain = what["index"] and not what["unique"] and what["type"] == "idx"
            if is_plain and what["columns"] == [column] and name not in declared:
                schema_editor.execute(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {schema_editor.quote_name(name)}"
                )

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        super().database_forwards(app_label, schema_editor, from_state, to_state)


def refer_with_tenant(
    *, table: str, column: str, name: str, to: str, unique: str
) -> list[tuple[str, str]]:
    """Pairs of statements, forwards and backwards: `column` and the row's tenant refer to one row
    of `to`. So the row is of its tenant, which its own reference need not prove again.

    `name` is the foreign key's and `unique` that of the constraint on `to`. The migration needs
    `atomic = False`; what was cut off can be run again. Nothing is read while others may not write.
    """
    add = f"""ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}, tenant_id)
        REFERENCES {to} (id, tenant_id) DEFERRABLE INITIALLY DEFERRED NOT VALID"""
    drop = f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}"
    drop_unique = f"ALTER TABLE {to} DROP CONSTRAINT IF EXISTS {unique}"
    return [
        (drop, drop_unique),
        (drop_unique, ""),
        (f"DROP INDEX CONCURRENTLY IF EXISTS {unique}", ""),
        (f"CREATE UNIQUE INDEX CONCURRENTLY {unique} ON {to} (id, tenant_id)", ""),
        (f"ALTER TABLE {to} ADD CONSTRAINT {unique} UNIQUE USING INDEX {unique}", ""),
        (add, drop),
        (f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}", ""),
    ]


def page_by_page(table: str, statement: str) -> Callable[[Any, Any], None]:
    """A step for `RunPython` of a migration that is not atomic: run `statement` for some thousand
    rows of `table` at a time, each a transaction of its own.

    The statement takes those with `id > %(after)s AND id <= %(last)s`. It may be run again.
    """

    def run(_apps: Any, schema_editor: Any) -> None:
        after = ""
        with schema_editor.connection.cursor() as cursor:
            while True:
                cursor.execute(
                    f"SELECT max(id) FROM (SELECT id FROM {table} WHERE id > %s"  # noqa: S608  # ours
                    f" ORDER BY id LIMIT {_ROWS_PER_PAGE}) AS page",
                    [after],
                )
                ((last,),) = cursor.fetchall()
                if last is None:
                    return
                cursor.execute(statement, {"after": after, "last": last})
                after = last

    return run
